package store

import (
	"time"

	"jig/internal/proto"
)

// Copy makes a new session, of that id, of the first upto facts of another; 0 is all of them. Nobody
// needs to let go of the other for it. The copy says in a fact of its own what it is a copy of.
func (d *DB) Copy(from, id string, upto uint64) error {
	return d.Import(id, from, func(yield func(proto.Fact, error) bool) {
		for e, err := range d.Read(from, 0) {
			if err == nil && upto > 0 && e.Seq > upto || !yield(e.Fact, err) {
				return
			}
		}
	})
}

// Import makes a new session of facts that come from elsewhere, such as a file. parent is the session
// they were written in.
func (d *DB) Import(id, parent string, facts func(func(proto.Fact, error) bool)) error {
	var all []proto.Fact
	for f, err := range facts {
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	s := d.New(id)
	s.parent = parent
	s.copied = true
	now := time.Now()
	s.now = func() time.Time { return now }
	if err := s.Append(1, append(all, proto.Forked{From: parent})...); err != nil {
		return err
	}
	return s.Close()
}
