//go:build unix

package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

func TestListReadsNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jig.db")
	d, err := store.Open(path)
	must(t, err)
	defer d.Close()
	for i := range 3 {
		s := d.New(store.NewID())
		must(t, s.Append(1, proto.Began{Agent: "a", Root: "/with\x1fa unit"}, proto.Said{Message: msg.Say(msg.User, fmt.Sprint("title ", i))}))
		must(t, s.Close())
	}
	direct, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	defer direct.Close()
	_, err = direct.Exec("DROP TABLE fact")
	must(t, err)
	all, err := d.List(store.Query{})
	must(t, err)
	if len(all) != 3 || all[0].Title != "title 2" || all[2].Title != "title 0" || all[0].Root != "/with\x1fa unit" || all[0].Turns != 1 || all[0].Agent != "a" {
		t.Errorf("%+v", all)
	}
}
