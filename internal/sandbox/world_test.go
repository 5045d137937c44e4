//go:build linux

package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const nobody = 65534

// users lists who the tests run as: root and nobody where root runs them, else who runs them.
func users() []int {
	if os.Geteuid() == 0 {
		return []int{0, nobody}
	}
	return []int{os.Geteuid()}
}

func asUser(who int) *syscall.SysProcAttr {
	if who == os.Geteuid() {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(who), Gid: uint32(who)}}
}

// world is a machine in small for one user: a project, what lies outside of it, and processes that
// are nobody's business. It is outside of /tmp, which every command may write to.
type world struct {
	who    int
	base   string
	binary string // the test binary, where the user can reach it
	bwrap  string
	abi    int
	net    bool

	hosts   map[Tier]*host // wardens that attempts share
	victim  *victim
	visits  *atomic.Int64
	pipe    rawFile
	segment []byte
	vars    map[string]string // what an attempt's preparation found out, for its words
}

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.base}, elem...)...)
}

// newWorld builds one. The folder's name is short: the paths of sockets are limited.
func newWorld(t *testing.T, who int) *world {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "jig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{who: who, base: base, vars: map[string]string{}}
	w.bwrap, err = exec.LookPath("bwrap")
	if err != nil {
		t.Fatal("bwrap is missing: install bubblewrap")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, base, "bin")
	w.binary = w.path("bin", "jig")
	if out, err := exec.Command("cp", self, w.binary).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	w.reset(t)
	return w
}

// reset makes everything anew, as it was. The folders themselves stay: a warden holds them.
func (w *world) reset(t *testing.T) {
	t.Helper()
	for _, name := range []string{"root", "out", "home", "temp", "cache"} {
		mkdir(t, w.path(name))
		entries, err := os.ReadDir(w.path(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(w.path(name, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, w.path("out", "file"), "original\n")
	put(t, w.path("out", "dir", "inner"), "inner\n")
	mkdir(t, w.path("out", "empty"))
	put(t, w.path("root", "mine"), "mine\n")
	put(t, w.path("home", ".bashrc"), "# mine\n")
	put(t, w.path("home", "secret"), "the secret\n")
	put(t, w.path("home", ".local", "state", "jig", "probe.json"), "{}")
	w.own(t)
	w.vars = map[string]string{}
}

// own gives everything to the user.
func (w *world) own(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	err := filepath.WalkDir(w.base, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, w.who, w.who)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) policy() hostPolicy {
	write := WriteRoots(Places{Root: w.path("root"), Temp: w.path("temp"), Cache: w.path("cache")})
	return hostPolicy{Policy: Policy{Root: w.path("root"), Write: write, Home: w.path("home"), Network: w.net,
		Git: FindGit(w.path("root")), Bwrap: w.bwrap}, ABI: w.abi}
}

// words fills an attempt's argument vector: $ROOT, $OUT, $HOME, and what its preparation found.
func (w *world) words(argv []string) []string {
	pairs := []string{"$ROOT", w.path("root"), "$OUT", w.path("out"), "$HOME", w.path("home"), "$BASE", w.base}
	for k, v := range w.vars {
		pairs = append(pairs, "$"+k, v)
	}
	r := strings.NewReplacer(pairs...)
	out := slices.Clone(argv)
	for i := range out {
		out[i] = r.Replace(out[i])
	}
	return out
}

// command makes an attempt's words a command: a shell line, or a function of the test binary.
func (w *world) command(argv []string) order {
	argv = w.words(argv)
	if argv[0] == "sh" {
		argv = []string{"/bin/sh", "-c", argv[1]}
	} else {
		argv = append([]string{w.binary, "attempt"}, argv...)
	}
	return order{Argv: argv, Dir: w.path("root"), Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + w.path("home"), "LC_ALL=C", atOnce}}
}

// outside runs an order as the user with nothing around it.
func (w *world) outside(t *testing.T, o order, inherited ...*os.File) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, o.Argv[0], o.Argv[1:]...)
	c.Dir, c.Env, c.SysProcAttr, c.ExtraFiles = o.Dir, o.Env, asUser(w.who), inherited
	out, err := c.CombinedOutput()
	r := reply{Exit: c.ProcessState.ExitCode(), Out: string(out)}
	if err != nil && r.Exit < 0 {
		r.Err = err.Error()
	}
	return r
}

// victim is a process outside, of the same user, that others have no business with.
type victim struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	addr string
}

const victimSecret = "sk-of-another-program-0815"

func (w *world) startVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(w.binary, "victim", w.path("out"))}
	v.cmd.SysProcAttr = asUser(w.who)
	if v.cmd.SysProcAttr == nil {
		v.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	v.cmd.SysProcAttr.Setpgid = true
	v.cmd.Dir, v.cmd.Env = w.path("out"), []string{"SECRET=" + victimSecret, atOnce}
	var err error
	if v.in, err = v.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.out = bufio.NewReader(out)
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := v.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	v.addr = strings.TrimSpace(line)
	w.victim = v
	w.vars["PID"], w.vars["ADDR"] = fmt.Sprint(v.cmd.Process.Pid), v.addr
	t.Cleanup(v.stop)
	return v
}

func (v *victim) stop() {
	if v.cmd.ProcessState == nil {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
	}
}

// ask lets the victim tell about itself; a dead one says so.
func (v *victim) ask(what string) string {
	if _, err := fmt.Fprintln(v.in, what); err != nil {
		return "dead"
	}
	line, err := v.out.ReadString('\n')
	if err != nil {
		return "dead"
	}
	return strings.TrimSpace(line)
}
