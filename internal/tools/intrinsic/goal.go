package intrinsic

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"jig/internal/tool"
)

// Status is how a goal stands.
type Status string

// An active goal goes on by itself, a blocked one waits for the user, a complete one is a goal no more.
const (
	Active   Status = "active"
	Blocked  Status = "blocked"
	Complete Status = "complete"
)

// Goal is what a session is to reach. The zero Goal is none.
type Goal struct {
	Objective string `json:"objective"`
	Status    Status `json:"status"`
	Why       string `json:"why,omitempty"` // of a blocked one: one line
	// Heard says of a blocked goal that the user has spoken since.
	Heard bool `json:"-"`
}

// None says that there is no goal.
func (g Goal) None() bool { return g.Status != Active && g.Status != Blocked }

// Keeper keeps the goal of one session. Its methods may be called from any goroutine.
type Keeper interface {
	// Goal is the goal as it stands.
	Goal() Goal
	// Change puts what f makes of the goal in its place, in one step that nothing comes between. An
	// error of f's leaves the goal as it is and is returned.
	Change(f func(Goal) (Goal, error)) error
}

// MaxObjective is the most bytes of an objective: it is said again with each turn.
const MaxObjective = 4 << 10

// What the model reads of a goal that cannot be as it asked.
var (
	noObjective = tool.Fails("objective must not be empty; say in it what is to be reached")
	tooLong     = tool.Fails("objective is too long ({size}, at most {most}); put the details in a file and name it in the objective")
	isActive    = tool.Fails("there is an active goal already and a session has one; change it with update_goal, or complete it first")
	isBlocked   = tool.Fails("the goal is blocked ({why}) and the user has not spoken since; tell them what you need and end your turn — only they let it go on, with jig goal resume or clear")
	noGoal      = tool.Fails("there is no goal to update; create one with create_goal only if the user asks for a goal")
	noChange    = tool.Fails("nothing to change; give objective, status, or objective with status blocked")
	badStatus   = tool.Fails("status must be complete or blocked, got {status}; only the user makes a blocked goal active again")
	both        = tool.Fails("objective and status complete exclude each other; complete the goal as it stands, or change the objective and work on")
)

// Objective trims an objective, takes control characters out of it, which some providers refuse for the rest
// of a conversation, and checks its size.
func Objective(s string) (string, error) {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s))
	switch {
	case s == "":
		return "", noObjective.With()
	case len(s) > MaxObjective:
		return "", tooLong.With("size", fmt.Sprintf("%d bytes", len(s)), "most", fmt.Sprint(MaxObjective))
	}
	return s, nil
}

//go:embed get_goal.md
var getDoc string

//go:embed create_goal.md
var createDoc string

//go:embed update_goal.md
var updateDoc string

// Goals offers the goal tools, which only a main agent has.
func Goals(k Keeper) tool.Owner { return newOwner(getGoal(k), createGoal(k), updateGoal(k)) }

func getGoal(k Keeper) definition {
	return definition{name: "get_goal", doc: getDoc, prepare: func(tool.Args) (step, error) {
		return step{run: func() (tool.Result, error) {
			if g := k.Goal(); !g.None() {
				return compact(g)
			}
			return compact(nil)
		}}, nil
	}}
}

func createGoal(k Keeper) definition {
	return definition{
		name: "create_goal", doc: createDoc, changes: true, failures: []*tool.Failure{noObjective, tooLong, isActive, isBlocked},
		params: tool.Params{{Name: "objective", Type: tool.String, Required: true, Doc: "what is to be reached, whole and checkable, in the user's terms"}},
		prepare: func(a tool.Args) (step, error) {
			if !a.Has("objective") {
				return step{}, tool.Missing.With("name", "objective")
			}
			objective, err := Objective(a.String("objective"))
			if err != nil {
				return step{}, err
			}
			return step{subject: objective, run: func() (tool.Result, error) {
				return changed(k, func(g Goal) (Goal, error) {
					switch {
					case g.Status == Active:
						return g, isActive.With()
					case g.Status == Blocked && !g.Heard:
						return g, isBlocked.With("why", reason(g.Why))
					}
					return Goal{Objective: objective, Status: Active}, nil
				})
			}}, nil
		},
	}
}

func updateGoal(k Keeper) definition {
	return definition{
		name: "update_goal", doc: updateDoc, changes: true, failures: []*tool.Failure{noGoal, noChange, badStatus, both, noObjective, tooLong},
		params: tool.Params{
			{Name: "objective", Type: tool.String, Doc: "the new objective, whole"},
			{Name: "status", Type: tool.String, Doc: "complete or blocked"},
		},
		prepare: func(a tool.Args) (step, error) {
			status := Status(a.String("status"))
			switch {
			case !a.Has("objective") && !a.Has("status"):
				return step{}, noChange.With()
			case a.Has("status") && status != Complete && status != Blocked:
				return step{}, badStatus.With("status", fmt.Sprintf("%q", clip(string(status))))
			case a.Has("objective") && status == Complete:
				return step{}, both.With()
			}
			var objective string
			if a.Has("objective") {
				var err error
				if objective, err = Objective(a.String("objective")); err != nil {
					return step{}, err
				}
			}
			return step{subject: strings.TrimSpace(string(status) + " " + objective), run: func() (tool.Result, error) {
				return changed(k, func(g Goal) (Goal, error) { return g.updated(objective, status) })
			}}, nil
		},
	}
}

// updated is the goal as the model changes it. It makes no blocked goal active.
func (g Goal) updated(objective string, status Status) (Goal, error) {
	if g.None() {
		return g, noGoal.With()
	}
	if objective != "" {
		g.Objective = objective
	}
	switch {
	case status == Complete:
		g.Status, g.Why = Complete, ""
	case status == Blocked && g.Status == Active:
		g.Status, g.Why = Blocked, ModelBlocked
	}
	return g, nil
}

// ModelBlocked is the reason of a goal that the model blocked, until its turn ends and says more.
const ModelBlocked = "the model cannot go on by itself"

// changed carries a change out and says what came of it, with what holds from now on.
func changed(k Keeper, f func(Goal) (Goal, error)) (tool.Result, error) {
	var now Goal
	err := k.Change(func(g Goal) (Goal, error) {
		var err error
		now, err = f(g)
		return now, err
	})
	if err != nil {
		return tool.Result{}, err
	}
	if now.None() {
		return compact(struct {
			Goal      *Goal `json:"goal"`
			Completed bool  `json:"completed"`
		}{nil, true})
	}
	policy := Policy(now.Objective)
	if now.Status == Blocked {
		policy = blockedPolicy
	}
	return compact(struct {
		Goal        Goal   `json:"goal"`
		Instruction string `json:"instruction"`
	}{now, policy})
}

func compact(v any) (tool.Result, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return tool.Result{}, err
	}
	return tool.Text(strings.TrimSuffix(b.String(), "\n")), nil
}
