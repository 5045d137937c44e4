package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"jig/internal/config"
	"jig/internal/print"
	"jig/internal/proto"
	"jig/internal/session"
	"jig/internal/tools/intrinsic"
)

// goalUsage is what --goal does.
const goalUsage = "go on by itself, turn after turn, until this `text` is reached; alone or with -m"

// badGoal is what is wrong with an objective; nil is nothing.
func badGoal(objective string) error {
	_, err := intrinsic.Objective(objective)
	return err
}

// goalNeedsTools refuses a goal that its agent could not complete.
func goalNeedsTools(o Options, p *plan) error {
	if o.HasGoal && p.agent.PlainChat() {
		return usagef("--goal needs an agent with tools, and %s has no tools: key (tools: [] is enough)", p.name)
	}
	return nil
}

func goalCommand(w World) *cobra.Command {
	c := &cobra.Command{
		Use:   "goal",
		Short: "show, resume or clear the goal of a session",
		Long: "A session with a goal goes on by itself, turn after turn, until the goal is complete or something blocks it. A\n" +
			"blocked goal waits for you: these commands show why, let it go on, or drop it.",
		RunE: choice([]string{"show", "resume", "clear"}, ""),
	}
	c.AddCommand(goalShowCommand(w), goalResumeCommand(w), goalClearCommand(w))
	return c
}

func goalShowCommand(w World) *cobra.Command {
	return &cobra.Command{
		Use: "show SESSION", Short: "say what the goal is and how it stands", Args: takes(1, 1, "a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			db, err := openStore(w)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			info, err := db.Find(args[0])
			if err != nil {
				return err
			}
			facts, err := db.Facts(info.ID)
			if err != nil {
				return err
			}
			g := session.Fold(facts).Goal
			if g.Status == "" {
				return noGoal(info.ID)
			}
			if g.Active() && !info.Held { // what the next start will say of it
				g.Status, g.Why = proto.GoalBlocked, "jig ended"
			}
			return showGoal(w, g)
		},
	}
}

func noGoal(id string) error { return fmt.Errorf("session %s has no goal", id) }

// showGoal prints a goal, its objective whole.
func showGoal(w World, g proto.Goal) error {
	t := tabwriter.NewWriter(w.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "status\t%s\n", g.Status)
	if g.Why != "" {
		fmt.Fprintf(t, "why\t%s\n", config.Shown(g.Why))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.Out, "\n%s\n", print.Clean(g.Objective))
	return err
}

func goalResumeCommand(w World) *cobra.Command {
	o := resumeOptions{Goes: true}
	c := &cobra.Command{
		Use: "resume SESSION", Short: "let a blocked goal go on, and end when it is complete or blocked again",
		Args: takes(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Session = args[0]
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			if modelStarted(w) {
				return refusedHere("jig goal resume")
			}
			return resume(c.Context(), w, o)
		},
	}
	c.Flags().SortFlags = false
	headlessFlags(c, &o.Options)
	configFlags(c, &o.Options)
	return c
}

func goalClearCommand(w World) *cobra.Command {
	return &cobra.Command{
		Use: "clear SESSION", Short: "drop the goal of a session", Args: takes(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			if modelStarted(w) {
				return refusedHere("jig goal clear")
			}
			return clearGoal(c.Context(), w, args[0])
		},
	}
}

// clearGoal needs no model and no configuration.
func clearGoal(_ context.Context, w World, id string) error {
	db, err := openStore(w)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	info, err := db.Find(id)
	if err != nil {
		return err
	}
	log, facts, err := db.Take(info.ID)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	line := session.NewLine(log, facts...)
	g := line.State().Goal
	if g.None() {
		return noGoal(info.ID)
	}
	return line.Say(append(session.Resume(line.State()), proto.Goal{Objective: g.Objective, Status: proto.GoalCleared, By: "person"})...)
}
