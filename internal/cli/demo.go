package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"jig/internal/host"
	"jig/internal/print"
	"jig/internal/proto"
)

//go:embed demo
var demoFiles embed.FS

// demoTask is what the recorded model is asked.
const demoTask = "The check fails: sh check.sh. Find out why and fix it."

func demoCommand(w World) *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "see the main job done on real files, without a key",
		Long: "Lays a small project with a failing check out in a temporary folder and lets an agent find and mend the fault.\n" +
			"The model's words are a recording; the tools, the files and the edit are real.",
		Args: takes(0, 0, "nothing"),
		RunE: func(c *cobra.Command, _ []string) error { return demo(c.Context(), w) }}
}

// demo is an ordinary run, in a folder of its own, with its own configuration.
func demo(ctx context.Context, w World) error {
	dir, err := os.MkdirTemp("", "jig-demo-")
	if err != nil {
		return fmt.Errorf("no folder for the demonstration: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // on macOS the temporary folder is behind a link
		return err
	}
	if err := layOut(dir); err != nil {
		return fmt.Errorf("the demonstration cannot be laid out in %s: %w", dir, cause(err))
	}
	project := filepath.Join(dir, "project")
	color := w.color(w.OutTerm)
	bold := func(s string) string {
		if color {
			return "\x1b[1m" + s + "\x1b[0m"
		}
		return s
	}
	fmt.Fprintf(w.Out, "%s\nThe model's words are a recording. The work is real: these tools read and change the files in\n%s\n\n%s %s\n",
		bold("jig demo"), project, bold(">"), demoTask)
	w.Cwd = project
	report, err := demoRun(ctx, w, dir, color)
	if err != nil {
		return err
	}
	if err := outcome(w, report); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Out, "\n%s\n\nTry it: sh %s\n", print.Clean(report.Reply), shellWord(filepath.Join(project, "check.sh")))
	return err
}

// shellWord is a path as it can be given to a shell.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:\\") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func demoRun(ctx context.Context, w World, dir string, color bool) (print.Report, error) {
	o := Options{Agent: "demo", Config: filepath.Join(dir, "config.yaml"), Message: demoTask, HasMessage: true}
	quiet := w
	quiet.Home, quiet.Getenv = dir, func(string) (string, bool) { return "", false } // nothing of the user's own takes part
	s, cfg, err := load(quiet, o)
	if err != nil {
		return print.Report{}, err
	}
	p, err := prepare(quiet, s, cfg, o)
	if err != nil {
		return print.Report{}, err
	}
	m, err := openModel(w, p.resolved)
	if err != nil {
		return print.Report{}, err
	}
	h := host.New()
	defer closeHost(w, h)
	id, err := h.Open(p.setup(m, true))
	if err != nil {
		return print.Report{}, err
	}
	report, err := print.Run(ctx, h, id, demoTask, print.Options{Format: print.Silent, Out: w.Out, Err: w.Out, Watch: true, Color: color})
	if err == nil && report.Why == proto.Done && !mended(filepath.Join(dir, "project")) {
		err = errors.New("the demonstration says it mended the file, but the file on the disk is as it was: please report this")
	}
	return report, err
}

// mended compares the disk with the file as it was laid out.
func mended(project string) bool {
	const name = "lib/price.sh"
	was, err := demoFiles.ReadFile("demo/project/" + name)
	is, err2 := os.ReadFile(filepath.Join(project, filepath.FromSlash(name)))
	return err == nil && err2 == nil && string(was) != string(is)
}

// layOut writes the demonstration's files. A git folder makes the project a project.
func layOut(dir string) error {
	err := fs.WalkDir(demoFiles, "demo", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("demo", filepath.FromSlash(path))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := demoFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, "project", ".git"), 0o755)
}
