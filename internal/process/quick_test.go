package process

import (
	"context"
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "be-init" {
		os.Exit(Serve(os.NewFile(3, "control")))
	}
	os.Exit(m.Run())
}

func TestQuick(t *testing.T) {
	self, _ := os.Executable()
	w, err := Open(context.Background(), Launch{Path: self, Args: []string{self, "be-init"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		j, err := w.Start(Command{Argv: []string{"/bin/bash", "-c", "echo hi; echo oops >/dev/stderr; exit 3"}, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		<-j.Done()
		fmt.Printf("%+v %q %v %v\n", j.State(), j.Output().Head, w.Empty(), j.HostPid())
	}
	fmt.Println(w.Close())
}
