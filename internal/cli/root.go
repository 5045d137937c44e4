package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jig/internal/config"
	"jig/internal/print"
)

// defaultMaxWait is long enough for a limit that is counted by the minute.
const defaultMaxWait = 10 * time.Minute

// version is set by the linker.
var version = "dev"

// Run reads a command line and carries it out. It gives the exit code.
func Run(ctx context.Context, w World, args []string) int {
	w.In = interruptibleReader{ctx, w.In}
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(w.In)
	help := &losing{w: w.Out}
	root.SetOut(help)
	root.SetErr(w.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = help.err
	}
	var e *ended
	switch {
	case errors.Is(err, context.Canceled):
		err = &ended{exitInterrupted}
		fmt.Fprintln(w.Err, "jig: interrupted")
	case err != nil && !errors.As(err, &e):
		fmt.Fprintf(w.Err, "jig: %s\n", print.Clean(plainly(err).Error()))
	}
	return exitCode(err)
}

// plainly says of a standard output that is full or gone what it is, whoever found out.
func plainly(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Path == os.Stdout.Name() {
		return fmt.Errorf("cannot write the output: %w", p.Err)
	}
	return err
}

// losing remembers that something could not be written: cobra does not look after its help.
type losing struct {
	w   io.Writer
	err error
}

func (l *losing) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if err != nil && l.err == nil {
		l.err = err
	}
	return n, err
}

// newRoot puts the commands together. A bare jig is jig run.
func newRoot(w World) *cobra.Command {
	root := runCommand(w)
	root.Use = "jig [agent]"
	root.Long = "jig gives a language model hands: it runs an agent on real files, bounded, approved and shown.\n" +
		"Without a command it runs an agent, as jig run does. Start with jig demo, which needs no key."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.Version = version
	root.SetVersionTemplate(versionLine(w))
	for _, c := range commands {
		root.AddCommand(c(w))
	}
	return root
}

// commands are all that jig can be told, in the order of the help.
var commands = []func(World) *cobra.Command{
	runCommand, resumeCommand, sessionsCommand, historyCommand, exportCommand, usageCommand, goalCommand, callCommand, listCommand, configCommand, trustCommand, doctorCommand, demoCommand, versionCommand, completionCommand,
}

// flagError says what a wrong flag may have been meant to be.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	if i := strings.Index(text, "--"); strings.HasPrefix(text, "unknown flag: ") && i >= 0 {
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
		return usagef("%s%s (%s --help lists them)", text, didYouMean(text[i:], all), c.CommandPath())
	}
	// Go's own words for a value that does not parse say nothing to a person.
	for of, want := range map[string]string{"strconv.ParseInt": "a whole number", "strconv.ParseBool": "true or false", "time:": "a duration such as 30s, 10m or 1h30m"} {
		if before, _, ok := strings.Cut(text, " flag: "+of); ok {
			text = before + ": want " + want
		}
	}
	return usagef("%s (%s --help)", text, c.CommandPath())
}

// takes checks how many arguments a command gets, in words that say which.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			got := fmt.Sprintf("%d arguments", len(args))
			if len(args) == 1 {
				got = "1 argument"
			}
			return usagef("%s takes %s, got %s (%s --help)", c.CommandPath(), what, got, c.CommandPath())
		}
		return nil
	}
}

// choice is for a command that only holds others: it says what they are, and which of them was meant.
// Without it cobra would print the help for a word that it does not know, and end well.
func choice(names []string, more string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		want := strings.Join(names, ", ")
		if len(args) == 0 {
			return usagef("%s needs a command: %s (%s --help)%s", c.CommandPath(), want, c.CommandPath(), more)
		}
		return usagef("%s has no %q (want %s)%s%s", c.CommandPath(), config.Shown(args[0]), want, didYouMean(args[0], names), more)
	}
}

func runCommand(w World) *cobra.Command {
	o := Options{}
	c := &cobra.Command{
		Use:   "run [agent]",
		Short: "run an agent",
		Long: "Runs an agent of the configuration, or a persona. With -m it answers one message and ends: the answer alone\n" +
			"goes to standard output, everything else to standard error, and nobody is asked anything.",
		Args: takes(0, 1, "one agent at most, and a message with -m"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return agentNames(w), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Agent = args[0]
			}
			if !c.HasParent() {
				for _, x := range c.Commands() {
					o.Commands = append(o.Commands, x.Name())
				}
			}
			o.HasMessage, o.HasSystem, o.HasGoal = c.Flags().Changed("message"), c.Flags().Changed("system"), c.Flags().Changed("goal")
			if err := o.check(c.Flags()); err != nil {
				return err
			}
			return run(c.Context(), w, o)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&o.Message, "message", "m", "", "answer this `text` and end (- reads standard input)")
	f.StringVar(&o.Goal, "goal", "", goalUsage)
	f.StringVarP(&o.Model, "model", "M", "", "use this `model`: provider:id, or the name of a models: entry")
	f.StringVarP(&o.System, "system", "s", "", "use this `text` as the system prompt instead of the agent's")
	f.StringVar(&o.Persona, "persona", "", "run this persona or agent: `ID` or ID:EFFORT")
	headlessFlags(c, &o)
	f.BoolVar(&o.NoSave, "no-save", false, "keep no session of this run")
	f.BoolVar(&o.Debug, "debug", false, "print what the session would be, without asking the model")
	configFlags(c, &o)
	return c
}

// headlessFlags are those of every command that runs a turn without a person.
func headlessFlags(c *cobra.Command, o *Options) {
	f := c.Flags()
	f.IntVar(&o.MaxTurns, "max-turns", 0, "end with an error after `N` model requests (0: no limit)")
	f.Var(moneyFlag{&o.MaxCost}, "max-cost", "with -m, end before the models cost more than this many `dollars`, which must be more than 0")
	f.DurationVar(&o.MaxWait, "max-wait", defaultMaxWait, "with -m, wait at most this `duration` for a provider that limits or fails, and for background jobs before they are killed (0: no limit)")
	f.StringVar(&o.Format, "output-format", string(print.Text), "how the answer is written: text, json (one report) or jsonl (one event a line)")
	f.StringVar(&o.Record, "record", "", "with -m, write what the model says to a new `file` that a replay provider plays")
	complete(c, "output-format", print.Formats)
}

// configFlags are those of every command that reads the configuration.
func configFlags(c *cobra.Command, o *Options) {
	c.Flags().StringVarP(&o.Config, "config", "c", "", "read this `file` instead of the config files")
	c.Flags().BoolVar(&o.Trust, "trust", false, "trust this project's .jig folders, for this run alone")
}

func complete(c *cobra.Command, flag string, values []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag was just defined
	}
}

// headless says that a run needs no person.
func (o Options) headless() bool { return o.HasMessage || o.HasGoal }

// check refuses what cannot be meant together.
func (o Options) check(f *pflag.FlagSet) error {
	switch {
	case !contains(print.Formats, o.Format):
		return usagef("--output-format: unknown format %q (want %s)%s", o.Format, strings.Join(print.Formats, ", "), didYouMean(o.Format, print.Formats))
	case o.HasMessage && strings.TrimSpace(o.Message) == "":
		return usagef("--message must not be empty")
	case o.HasGoal && badGoal(o.Goal) != nil:
		return usagef("--goal: the %v", badGoal(o.Goal))
	case f.Changed("output-format") && !o.headless():
		return usagef("--output-format applies to -m and --goal runs only")
	case f.Changed("max-wait") && !o.headless():
		return usagef("--max-wait applies to -m and --goal runs only")
	case f.Changed("max-cost") && !o.headless():
		return usagef("--max-cost applies to -m and --goal runs only")
	case f.Changed("record") && o.Record == "":
		return usagef("--record must name a file")
	case f.Changed("record") && !o.headless():
		return usagef("--record applies to -m and --goal runs only")
	case o.MaxWait < 0:
		return usagef("--max-wait must be 0 (no limit) or more, got %s", o.MaxWait)
	case f.Changed("max-turns") && !o.headless():
		return usagef("--max-turns applies to -m and --goal runs only")
	case o.MaxTurns < 0:
		return usagef("--max-turns must be 0 (no limit) or more, got %d", o.MaxTurns)
	case o.Agent != "" && o.Persona != "":
		return usagef("an agent (%s) and --persona (%s) cannot both be given", o.Agent, o.Persona)
	case f.Changed("config") && o.Config == "":
		return usagef("-c must name a file")
	case f.Changed("persona") && o.Persona == "" || strings.HasPrefix(o.Persona, ":") || strings.HasSuffix(o.Persona, ":"):
		return usagef("--persona must name a persona or agent: ID or ID:EFFORT")
	case f.Changed("model") && o.Model == "":
		return usagef("-M must name a model: provider:id, or the name of a models: entry")
	}
	return nil
}

func versionCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "print the version", Args: takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(w.Out, versionLine(w))
			return err
		}}
}

func versionLine(w World) string { return fmt.Sprintf("jig %s (%s/%s)\n", version, w.GOOS, w.GOARCH) }

func helpCommand() *cobra.Command {
	return &cobra.Command{Use: "help [command]", Short: "say what a command does",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("unknown command %q (jig --help lists them)", config.Shown(strings.Join(args, " ")))
			}
			return about.Help()
		}}
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "completion SHELL", Short: "print a completion script for bash, zsh, fish or powershell",
		Args: takes(1, 1, "one shell ("+strings.Join(shells, ", ")+")"), ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w.Out, true)
			case "zsh":
				return root.GenZshCompletion(w.Out)
			case "fish":
				return root.GenFishCompletion(w.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w.Out)
			}
			return usagef("unknown shell %q (want %s)%s", args[0], strings.Join(shells, ", "), didYouMean(args[0], shells))
		}}
}

// agentNames are for completion: what cannot be read has none.
func agentNames(w World) []string {
	quiet := w
	quiet.Err = io.Discard
	_, cfg, err := load(quiet, Options{})
	if err != nil {
		return nil
	}
	return sortedKeys(cfg.Agents)
}
