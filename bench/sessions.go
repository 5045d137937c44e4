package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/store"
)

const (
	many     = 10_000
	listGoal = 50 // ms for the whole process
)

// sessions measures how long it takes to list very many of them, beside a jig that only says its version
// and one that lists a hundred. Some have long logs, which a list must not read.
func sessions(b *bench) error {
	project, err := b.project()
	if err != nil {
		return err
	}
	heading("sessions are listed from an index")
	data, few := filepath.Join(b.tmp, "many"), filepath.Join(b.tmp, "few")
	if err := crowd(data, many); err != nil {
		return err
	}
	if err := crowd(few, 100); err != nil {
		return err
	}
	var all, hundred, version []float64
	for range b.runs {
		for _, x := range []struct {
			into *[]float64
			data string
			args []string
		}{{&all, data, []string{"list", "sessions"}}, {&hundred, few, []string{"list", "sessions"}}, {&version, few, []string{"version"}}} {
			took, err := timed(b.command(project, []string{"XDG_DATA_HOME=" + x.data}, x.args...))
			if err != nil {
				return err
			}
			*x.into = append(*x.into, took)
		}
	}
	row(fmt.Sprintf("jig list sessions, %d of them, ms", many), median(all), listGoal, fmt.Sprintf("%.2f for 100, %.2f for jig version", median(hundred), median(version)))
	return nil
}

// crowd makes so many sessions, every hundredth with a log of about half a megabyte.
func crowd(data string, n int) error {
	d, err := store.Open(filepath.Join(data, "jig", "jig.db"))
	if err != nil {
		return err
	}
	defer d.Close()
	for i := range n {
		s := d.New(store.NewID())
		facts := []proto.Fact{
			proto.Began{Agent: "coder", Provider: "anthropic", Model: "claude-sonnet-5", Root: fmt.Sprintf("/home/someone/work/project-%d", i%40), System: strings.Repeat("prompt ", 300)},
			proto.Said{Message: msg.Say(msg.User, fmt.Sprintf("Message %d: please look at the tests that fail since the last change, and mend what they show", i))},
			proto.Said{Message: msg.Say(msg.Assistant, "Done."), Round: 1},
			proto.Ended{Why: proto.Done, Rounds: 1},
		}
		if i%100 == 0 {
			facts[2] = proto.Said{Message: msg.Say(msg.Assistant, strings.Repeat("a long answer ", 40_000)), Round: 1}
		}
		if err := s.Append(1, facts...); err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}
