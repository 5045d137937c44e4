package process

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestOrdersArriveAsTheyWereSentHoweverTheyAreCutUp(t *testing.T) {
	want := []startOrder{
		{id: 1, dir: "/", mark: "m", argv: []string{"/bin/true"}, env: []string{}},
		{id: 1 << 60, dir: "/\xff\n", mark: "call.1.2", argv: []string{"a", "", "\xfe\x00"}, env: []string{"A=" + strings.Repeat("x", 300<<10)}},
		{id: 3, argv: []string{"x"}, env: []string{"", "", ""}},
	}
	var wire []byte
	for _, o := range want {
		f, err := o.frame()
		if err != nil {
			t.Fatal(err)
		}
		wire = append(wire, f...)
	}
	for _, step := range []int{1, 7, 4096, len(wire)} {
		var q queue
		var got []startOrder
		for rest := wire; len(rest) > 0; {
			n := copy(q.room(step)[:step], rest)
			q.added(n)
			rest = rest[n:]
			for {
				kind, b, ok, err := q.next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				o, err := readStart(b)
				if kind != msgStart || err != nil {
					t.Fatalf("%c %v", kind, err)
				}
				got = append(got, o)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in steps of %d something else arrives", step)
		}
		if cap(q.b) > len(wire)+2*step {
			t.Errorf("in steps of %d the queue keeps %d bytes", step, cap(q.b))
		}
	}
}

func TestSmallMessagesNeedNoNewRoom(t *testing.T) {
	f, err := startOrder{id: 7, argv: []string{strings.Repeat("x", 3000)}}.frame()
	if err != nil {
		t.Fatal(err)
	}
	var q queue
	one := func() {
		q.added(copy(q.room(32<<10), f))
		if kind, _, ok, err := q.next(); kind != msgStart || !ok || err != nil {
			t.Fatal(kind, ok, err)
		}
	}
	one()
	if n := testing.AllocsPerRun(1000, one); n > 0 {
		t.Errorf("%v allocations for each", n)
	}
}

func TestMessagesHaveALimit(t *testing.T) {
	if _, err := (startOrder{id: 1, argv: []string{strings.Repeat("x", maxFrame)}}).frame(); err == nil {
		t.Error("a message over the limit is sent")
	}
	q := queue{b: []byte{0xff, 0, 0, 0, 's'}}
	if _, _, _, err := q.next(); err == nil {
		t.Error("a message over the limit is awaited")
	}
}

func FuzzMessages(f *testing.F) {
	ok, _ := startOrder{id: 1, dir: "/", argv: []string{"a"}, env: []string{"b"}}.frame()
	f.Add(ok)
	f.Add([]byte{0, 0, 0, 3, 's', 0xff, 0xff, 0xff})
	f.Add(append(bytes.Repeat([]byte{0}, 5), 0xff))
	f.Fuzz(func(t *testing.T, b []byte) {
		q := queue{b: b}
		for {
			_, body1, ok, err := q.next()
			if err != nil || !ok {
				return
			}
			o, err := readStart(body1)
			if err != nil {
				continue
			}
			again, err := o.frame()
			if err != nil {
				t.Fatal(err)
			}
			o2, err := readStart(again[frameHeader:])
			if err != nil || !reflect.DeepEqual(o, o2) {
				t.Fatalf("%+v became %+v: %v", o, o2, err)
			}
			r := body{b: body1}
			for !r.bad && len(r.b) > 0 {
				_, _ = r.num(), r.str()
			}
		}
	})
}
