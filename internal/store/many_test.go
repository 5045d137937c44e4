//go:build unix

package store_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

// asWriter makes this test a program that writes sessions: DATABASE APPENDS PARENT, or one that takes a
// session and keeps it: DATABASE hold ID.
const asWriter = "JIG_TEST_STORE_WRITER"

func TestMain(m *testing.M) {
	if args := os.Getenv(asWriter); args != "" {
		if err := writer(strings.Fields(args)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func writer(args []string) error {
	d, err := store.Open(args[0])
	if err != nil {
		return err
	}
	defer d.Close()
	if args[1] == "hold" {
		s, _, err := d.Take(args[2])
		if err != nil {
			return err
		}
		fmt.Println(s.ID())
		_, _ = io.Copy(io.Discard, os.Stdin)
		return nil
	}
	var appends int
	if _, err := fmt.Sscan(args[1], &appends); err != nil {
		return err
	}
	own, copied := d.New(store.NewID()), store.NewID()
	if err := own.Append(1, proto.Began{Agent: "a"}, said(os.Getpid(), 1)); err != nil {
		return err
	}
	if err := d.Copy(args[2], copied, 0); err != nil { // while its writer writes on
		return err
	}
	child, facts, err := d.Take(copied)
	if err != nil {
		return err
	}
	at, childAt := uint64(3), uint64(len(facts)+1)
	for i := range appends { // a parent and its child by turns, as two of one process do
		if err := own.Append(at, said(os.Getpid(), i), proto.Cost{}); err != nil {
			return err
		}
		if err := child.Append(childAt, said(os.Getpid(), i)); err != nil {
			return err
		}
		at, childAt = at+2, childAt+1
	}
	fmt.Println(own.ID(), at-1, copied, childAt-1)
	return errors.Join(own.Close(), child.Close())
}

func said(who, n int) proto.Said {
	return proto.Said{Message: msg.Say(msg.User, fmt.Sprintf("%d says %d %s", who, n, strings.Repeat("x", 50*(n%40))))}
}

// as starts the program above.
func as(t *testing.T, args ...string) *osexec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	c := osexec.Command(self)
	c.Env = append(os.Environ(), asWriter+"="+strings.Join(args, " "))
	return c
}

func TestEightProcessesWriteOneDatabaseAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	parent := write(t, d)
	const processes = 8
	appends := fmt.Sprint(sometimes(400))
	told := make([]string, processes)
	var all sync.WaitGroup
	for i := range told {
		c := as(t, path, appends, parent)
		all.Go(func() {
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			told[i] = string(out)
		})
	}
	s, facts, err := d.Take(parent)
	must(t, err)
	n := len(facts)
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for going := true; going; n++ { // one that reads and writes beside them
		must(t, s.Append(uint64(n+1), said(0, n)))
		if _, err := d.List(store.Query{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			going = false
		default:
		}
	}
	for _, line := range append(told, fmt.Sprint(parent, " ", n)) {
		fields := strings.Fields(line)
		for len(fields) >= 2 {
			whole(t, d, fields[0], fields[1])
			fields = fields[2:]
		}
	}
	list, err := d.List(store.Query{})
	if err != nil || len(list) != 2*processes+1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// whole checks that a log has so many facts and that each of its lines is what it should be.
func whole(t *testing.T, d *store.DB, id, count string) {
	t.Helper()
	n := 0
	for line, err := range d.Lines(id, 0) {
		must(t, err)
		n++
		var v struct {
			Type string
			Seq  int
		}
		if err := json.Unmarshal(line, &v); err != nil || v.Seq != n || v.Type == "" {
			t.Fatalf("line %d of %s is %q: %v", n, id, line, err)
		}
	}
	if fmt.Sprint(n) != count {
		t.Errorf("%s has %d facts, want %s", id, n, count)
	}
}

func TestAKilledProcessHoldsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d := open(t, path)
	id := write(t, d)
	for range sometimes(20) {
		c := as(t, path, "hold", id)
		in, err := c.StdinPipe()
		must(t, err)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != id+"\n" {
			t.Fatalf("%q %v", line, err)
		}
		var held *store.HeldError
		if _, _, err := d.Take(id); !errors.As(err, &held) || held.Holder.Pid != c.Process.Pid || strings.Contains(held.Error(), "\n") {
			t.Fatalf("%v", err)
		}
		copied := store.NewID()
		must(t, d.Copy(id, copied, 0))
		must(t, c.Process.Signal(syscall.SIGKILL))
		_ = c.Wait()
		_ = in.Close()
		s, _, err := d.Take(id)
		must(t, err)
		must(t, s.Close())
	}
	left, err := os.ReadDir(filepath.Join(filepath.Dir(path), "open"))
	if err != nil || len(left) != 1 {
		t.Errorf("files of processes that are gone are left: %v %v", left, err)
	}
}
