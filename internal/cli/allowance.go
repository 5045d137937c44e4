package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jig/internal/model/cost"
	"jig/internal/money"
)

// allowanceName is the variable through which a jig tells one that its shell starts what that one
// may spend and where to keep the account: "LIMIT:FILE", the limit in billionths of a dollar or - for
// none. Only a jig outside the sandbox gets a file, and its environment cannot be changed on the way:
// no interpreter is between the two. Every other command gets "-:" or, under a limit, "0:", with which
// a jig asks no model, because nobody could count what it spends. So a jig that a model's command
// started without any of these was kept from knowing, and asks no model that costs something.
const allowanceName = "JIG_ALLOWANCE"

type allowance struct {
	limit *money.Amount
	file  string
	given bool // something is said
}

var errUntold = fmt.Errorf("a jig that a model's command started may not ask a model that has a price without the variable %s, which says what may be spent: leave the command's environment as it is", allowanceName)

var errUncounted = fmt.Errorf("a jig that was started here may not ask a model: the jig before it has a %s, and it can only count what plain jig commands spend outside its sandbox (no pipes, lists or expansions)", maxCost)

// allowanceOf reads what the jig before this one allows.
func allowanceOf(w World) (allowance, error) {
	var a allowance
	value, _ := w.Getenv(allowanceName)
	if value == "" {
		return a, nil
	}
	limit, file, ok := strings.Cut(value, ":")
	n, err := strconv.ParseInt(limit, 10, 64)
	if !ok || limit != "-" && (err != nil || n < 0) {
		return a, fmt.Errorf("the environment variable %s is not what a jig sets: unset it", allowanceName)
	}
	a.file, a.given = file, true
	if limit != "-" {
		x := money.Amount(n)
		a.limit = &x
	}
	return a, nil
}

// tell writes how the account stands, over what stood there before. It always has the same length,
// so that whoever reads it after this jig was killed reads one state or the other.
func (b *budget) tell(a cost.Account) {
	if b.report != nil {
		_, _ = b.report.WriteAt(accountLine(a), 0) // it was writable, and needs no room
	}
}

func accountLine(a cost.Account) []byte {
	estimated := 0
	if a.Estimated {
		estimated = 1
	}
	return fmt.Appendf(nil, "%019d %019d %d\n", a.Spent, a.Held, estimated)
}

// readAccount gives what a jig spent that has ended. What it had put aside for a request when it was
// killed counts as spent.
func readAccount(file string) (spent money.Amount, estimated bool, err error) {
	data, err := readSmall(file, 4096)
	if err != nil {
		return 0, false, err
	}
	var held money.Amount
	var mark int
	if n, err := fmt.Sscanf(string(data), "%d %d %d\n", &spent, &held, &mark); n != 3 || err != nil || spent < 0 || held < 0 {
		return 0, false, errors.New("the account cannot be read")
	}
	return spent.Plus(held), mark != 0 || held > 0, nil
}

// child lends money to a jig that a command starts, and books what it spent once it has ended.
func (b *budget) child() (vars []string, ended func(), err error) {
	file, err := b.newAccount()
	if err != nil {
		if b.limit != nil {
			return nil, func() {}, fmt.Errorf("there is no place to count what another jig spends: %w", cause(err))
		}
		return nil, func() {}, nil
	}
	hold, lent := b.ledger.Lend()
	limit := "-"
	if b.limit != nil {
		limit = strconv.FormatInt(int64(lent), 10)
	}
	return []string{allowanceName + "=" + limit + ":" + file}, func() {
		spent, estimated, err := readAccount(file)
		if err != nil { // nobody knows: it may have been all
			spent, estimated = lent, true
		}
		hold.Book(spent, estimated)
		_ = os.Remove(file)
	}, nil
}

// newAccount makes the file for a child's account. Those of a jig that was killed are removed when
// they are old.
func (b *budget) newAccount() (string, error) {
	if b.dir == "" {
		return "", errors.New("there is no state folder")
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return "", err
	}
	if old, err := os.ReadDir(b.dir); err == nil {
		for _, e := range old {
			if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > 30*24*time.Hour {
				_ = os.Remove(filepath.Join(b.dir, e.Name()))
			}
		}
	}
	f, err := os.CreateTemp(b.dir, "*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(accountLine(cost.Account{}))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// forCommands is the environment of a shell's commands, and how jigs among them get an allowance.
// Where commands could write the accounts, under a limit no jig gets one.
func (b *budget) forCommands(env []string, writable bool) ([]string, func() ([]string, func(), error)) {
	if b == nil {
		return env, nil
	}
	if b.limit != nil {
		env = append(withoutAllowance(env), allowanceName+"=0:")
		if writable {
			return env, nil
		}
	}
	return env, b.child
}

// inherited is this jig's environment as commands get it when it has no limit of its own. What the jig
// before it set goes on to hold where this one keeps no account: a model may start it for just that.
func inherited(w World) []string {
	env := withoutAllowance(w.Environ)
	a, err := allowanceOf(w)
	switch {
	case err != nil || a.limit != nil:
		return append(env, allowanceName+"=0:")
	case a.given || !modelStarted(w):
		return append(env, allowanceName+"=-:")
	}
	return env
}

// withoutAllowance is an environment without what a jig before this one allowed it.
func withoutAllowance(env []string) []string {
	var out []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, allowanceName+"=") {
			out = append(out, kv)
		}
	}
	return out
}
