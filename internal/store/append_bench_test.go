//go:build unix

package store_test

import (
	"strings"
	"testing"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
	"jig/internal/tool"
)

// BenchmarkRound keeps the facts of one round with one call.
func BenchmarkRound(b *testing.B) {
	d, err := store.Open(b.TempDir() + "/jig.db")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	s := d.New(store.NewID())
	from := uint64(1)
	say := func(f ...proto.Fact) {
		if err := s.Append(from, f...); err != nil {
			b.Fatal(err)
		}
		from += uint64(len(f))
	}
	say(conversation[:2]...)
	text := strings.Repeat("     1\tthe text of a file\n", 20)
	for b.Loop() {
		say(proto.Said{Message: msg.Message{Role: msg.Assistant, Blocks: msg.Blocks{msg.Call{ID: "call00001", Name: "read_file", Args: `{"path":"a"}`}}}, Round: 1, Usage: &msg.Usage{Input: 1}})
		say(proto.Opened{Call: "call00001", Tool: "read_file", Plan: tool.Plan{Title: "[read_file a]"}})
		say(proto.Closed{Call: "call00001", Result: tool.Text(text)})
	}
}
