package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jig/internal/config"
)

func trustCommand(w World) *cobra.Command {
	var forget, list bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "trust this project's .jig folders as they are now",
		Long: "A project's config and personas can start programs and choose where your keys are sent, so they count only after\n" +
			"you have said so here. What is trusted is this content: when it changes, you are asked again.",
		Args: takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			if modelStarted(w) && !list {
				return refusedHere("jig trust")
			}
			s, err := look(w, "", false)
			if err != nil {
				return err
			}
			for _, text := range s.warnings {
				w.warn("%s", text)
			}
			switch {
			case list && forget:
				return usagef("--list and --forget cannot both be given")
			case list:
				return listTrusted(w, s)
			case forget:
				return forgetTrust(w, s)
			}
			return trustAll(w, s)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the folders that are trusted")
	c.Flags().BoolVar(&forget, "forget", false, "trust this project's folders no longer")
	return c
}

func trustAll(w World, s *survey) error {
	if len(s.levels) == 0 {
		_, err := fmt.Fprintf(w.Out, "nothing to trust: no config or persona in a .jig folder between %s and here\n", s.root)
		return err
	}
	if err := s.remember(s.levels); err != nil {
		return err
	}
	for _, l := range s.levels {
		if _, err := fmt.Fprintf(w.Out, "%s trusted as it is now\n%s", config.Shown(l.dir), l.list(w.GOOS)); err != nil {
			return err
		}
	}
	// Where commands may write, no start will believe what was just stored: say so now and not then.
	if s, err := look(w, "", false); err == nil {
		told := len(s.warnings)
		_, _, _ = s.load(w) // what is wrong with the configuration is for the command that needs it
		for _, text := range s.warnings[told:] {
			w.warn("%s", text)
		}
	}
	return nil
}

// list names a level's files and what they would do, one a line. Only now are they read for what they
// mean.
func (l level) list(goos string) string {
	var b strings.Builder
	for _, f := range l.files {
		fmt.Fprintf(&b, "  %s\n", config.Shown(f.Path))
	}
	for _, w := range config.Survey(goos, l.files) {
		fmt.Fprintf(&b, "  - %s\n", w)
	}
	return b.String()
}

func listTrusted(w World, s *survey) error {
	for _, p := range s.trust.Paths() {
		if _, err := fmt.Fprintln(w.Out, config.Shown(p)); err != nil {
			return err
		}
	}
	return nil
}

func forgetTrust(w World, s *survey) error {
	if s.noPlaces != nil {
		return s.noPlaces
	}
	t, none := s.trust, true
	for _, dir := range config.ProjectLevels(s.env.GOOS, s.root, s.env.Cwd) {
		if t.Knows(dir) {
			t, none = t.Without(dir), false
			if _, err := fmt.Fprintf(w.Out, "%s is trusted no longer\n", config.Shown(dir)); err != nil {
				return err
			}
		}
	}
	if none {
		_, err := fmt.Fprintf(w.Out, "nothing to forget: no .jig folder between %s and here is trusted\n", config.Shown(s.root))
		return err
	}
	return s.store(t)
}

// answers are the lines that a person types before a session begins. One who asks after another goes
// on with what that one has read.
func answers(w World) *bufio.Reader {
	if in, ok := w.In.(*bufio.Reader); ok {
		return in
	}
	return bufio.NewReader(io.LimitReader(w.In, 1<<16))
}

// askTrust asks once for each untrusted level, with a plain line. No answer is a no.
func askTrust(w World, s *survey) error {
	in := answers(w)
	for _, l := range s.untrusted() {
		what := "This project brings configuration of its own"
		if l.changed {
			what = "This project's configuration has changed since you trusted it"
		}
		fmt.Fprintf(w.Err, "%s:\n%sIt can start programs and choose where your keys are sent. Trust it as it is now? [y/N] ", what, l.list(w.GOOS))
		line, err := in.ReadString('\n')
		if err != nil { // the end of the input is no answer, and no answer is a no
			fmt.Fprintln(w.Err)
			break
		}
		if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
			continue
		}
		if err := s.remember([]level{l}); err != nil {
			return err
		}
	}
	return nil
}
