//go:build linux

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"jig/internal/process"
)

// The test binary is every program of these tests: the warden, the program that opens one as some
// user, the attempts that run inside, and the processes outside that they aim at.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Command:
			os.Exit(WardenMain(os.Args[2:]))
		case "host":
			os.Exit(hostMain(os.Args[2], os.Args[3]))
		case "attempt":
			os.Exit(attemptMain(os.Args[2:]))
		case "detect":
			os.Exit(detectMain(os.Args[2]))
		case "deny":
			os.Exit(denyMain(os.Args[2:]))
		case "victim":
			os.Exit(victimMain(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// atOnce spares what a race build otherwise spends at the end of every process: a second.
const atOnce = "GORACE=atexit_sleep_ms=0"

// order is what a host is asked to run inside, and reply is what came of it.
type order struct {
	Argv, Env []string
	Dir       string
}

type reply struct {
	Exit int
	Out  string
	Err  string
}

// hostPolicy is a Policy that crosses to the host's process, the test's own part included.
type hostPolicy struct {
	Policy
	ABI int
}

// hostMain opens a warden in a tier and runs what it is asked to, until its input ends.
func hostMain(tier, policy string) int {
	var p hostPolicy
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p.abi = p.ABI
	p.Policy = Settle(p.Policy) // a session begins
	w, err := openIn(Tier(tier), p.Policy)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stamp := Stamp(p.Policy)
	defer w.Close()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return 0
		}
		if now := Stamp(p.Policy); now != stamp { // as a session does: what runs in the old one goes on
			if w, err = openIn(Tier(tier), p.Policy); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			stamp = now
			defer w.Close()
		}
		if err := out.Encode(runIn(w, o)); err != nil {
			return 1
		}
	}
}

func openIn(t Tier, p Policy) (*process.Warden, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l, err := Enter(t, p, self)
	if err != nil {
		return nil, err
	}
	l.Env = append(l.Env, atOnce)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return process.Open(ctx, l)
}

// runIn runs one command to its end; one that does not end is killed and says so.
func runIn(w *process.Warden, o order) reply {
	j, err := w.Start(process.Command{Argv: o.Argv, Env: o.Env, Dir: o.Dir, Call: "c", Timeout: 20 * time.Second})
	if err != nil {
		return reply{Exit: -1, Err: err.Error()}
	}
	<-j.Done()
	out := j.Output()
	r := reply{Exit: j.State().Exit, Out: string(out.Head) + string(out.Tail)}
	if j.State().TimedOut {
		r.Err = "timed out"
	}
	return r
}

// host is a running hostMain.
type host struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	enc  *json.Encoder
	dec  *json.Decoder
	said *strings.Builder
}

// startHost starts one as a user, with descriptors that it inherits unasked.
func startHost(t *testing.T, who int, binary string, tier Tier, p hostPolicy, inherited ...*os.File) *host {
	t.Helper()
	return startHostWith(t, binary, tier, p, func(c *exec.Cmd) { c.SysProcAttr, c.ExtraFiles = asUser(who), inherited })
}

func startHostWith(t *testing.T, binary string, tier Tier, p hostPolicy, with func(*exec.Cmd)) *host {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{cmd: exec.Command(binary, "host", string(tier), string(text)), said: &strings.Builder{}}
	with(h.cmd)
	h.cmd.Dir, h.cmd.Env = "/", []string{"SECRET=" + hostSecret, "PATH=" + os.Getenv("PATH"), atOnce}
	h.cmd.Stderr = h.said
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.enc, h.dec = json.NewEncoder(h.in), json.NewDecoder(out)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.stop)
	return h
}

func (h *host) stop() {
	_ = h.in.Close()
	if h.cmd.ProcessState == nil {
		_ = h.cmd.Wait()
	}
}

// hostSecret is in the environment of the program that opens the warden, as keys are.
const hostSecret = "sk-of-the-host-4711"

func (h *host) run(t *testing.T, o order) reply {
	t.Helper()
	var r reply
	if err := h.enc.Encode(o); err != nil {
		t.Fatalf("the host is gone: %v %s", err, h.said)
	}
	if err := h.dec.Decode(&r); err != nil {
		h.stop()
		t.Fatalf("the host is gone: %v: %s", err, h.said)
	}
	return r
}
