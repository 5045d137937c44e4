package code

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"jig/internal/tool"
)

func TestFirst(t *testing.T) {
	root := t.TempDir()
	os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\ntwo\nthree\n"), 0o755)
	s, err := New(root, Config{})
	if err != nil {
		t.Fatal(err)
	}
	do := func(name, args string) {
		p, err := s.Prepare(context.Background(), tool.Call{Name: name, Args: json.RawMessage(args)})
		if err != nil {
			fmt.Println("prepare:", err)
			return
		}
		fmt.Printf("%s %+v\n", p.Title, p.Ask)
		r, err := p.Run(context.Background(), nil)
		fmt.Println(r.Blocks.Text(), err)
		if r.Card != nil {
			fmt.Printf("%+v\n", *r.Card)
		}
	}
	do("list_dir", `{}`)
	do("edit_file", `{"path":"a.txt","old_string":"two","new_string":"2"}`)
	do("read_file", `{"path":"a.txt"}`)
	do("edit_file", `{"path":"a.txt","old_string":"two","new_string":"2"}`)
	do("edit_file", `{"path":"a.txt","old_string":"three","new_string":"3"}`)
	do("write_file", `{"path":"d/e/b.txt","content":"hello"}`)
	do("list_dir", `{"path":"d/e"}`)
	do("list_dir", `{"path":"../.."}`)
}
