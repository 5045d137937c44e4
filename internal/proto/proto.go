// Package proto is what crosses the line between a session and whoever shows or drives it: facts,
// which are logged and numbered; the now, which is only the present value of a few keys; and
// commands. It is plain data and knows no tool's name and no provider.
package proto

import (
	"context"
	"iter"
	"time"

	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/tool"
)

// Fact is something that happened to a session. Facts are stored in order, numbered from 1, and
// never changed or dropped; what a session is follows from them alone.
type Fact interface{ fact() }

// Began opens a session, or says that what it runs on has changed.
type Began struct {
	Agent    string `json:"agent"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Ref is the models: entry by which the model was named, "" where it was named by provider and id.
	Ref  string `json:"ref,omitempty"`
	Root string `json:"root"` // the project root
	// Real is the root without symbolic links, "" where it has none: one project may be reached by many names.
	Real string `json:"real,omitempty"`
	// Cwd is the directory that it was started in, "" where that is the root.
	Cwd   string   `json:"cwd,omitempty"`
	Tools []string `json:"tools,omitempty"`
	// System is what every request says before the conversation, and Date the day it names, "" when it
	// names none. Both are kept because a session that goes on must send the same bytes again.
	System string `json:"system,omitempty"`
	Date   string `json:"date,omitempty"` // such as 2026-11-30
	// Config is the file that stood in the place of the configuration, with the checksum of what it held.
	Config    string `json:"config,omitempty"`
	ConfigSum string `json:"config_sum,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Nested says that a model's command started the jig that runs it: no person began it.
	Nested bool `json:"nested,omitempty"`
}

// Said is a message, of a person, of the model, or a notice of something that ended meanwhile.
type Said struct {
	Message msg.Message `json:"message"`
	Notice  string      `json:"notice,omitempty"` // for a notice: the call that caused it, or one of the kinds below
	Date    string      `json:"date,omitempty"`   // for a notice of NoticeDate: the day it tells
	Round   int         `json:"round,omitempty"`  // for a reply: which request of the turn, from 1
	Usage   *msg.Usage  `json:"usage,omitempty"`  // for a reply: nil when none was reported
	Stop    string      `json:"stop,omitempty"`   // for a reply: why it ended
	// Spent is, for a reply, what the session's own requests cost by then; nil where no price is known.
	Spent *money.Amount `json:"spent,omitempty"`
}

// The notices that no call caused.
const (
	NoticeDate  = "date"  // the day is another than the one the session was told of
	NoticeGoal  = "goal"  // the goal is not reached yet
	NoticeRetry = "retry" // the reply before it was cut short
)

// Opened says that a call is being dealt with. Its plan is what people were or will be shown.
type Opened struct {
	Call string    `json:"call"`
	Tool string    `json:"tool"`
	Show tool.Show `json:"show"`
	Plan tool.Plan `json:"plan"`
}

// Asked is a question to people, open until it is answered.
type Asked struct {
	Call     string        `json:"call"`
	Question tool.Question `json:"question"`
}

// Choice is an answer to a question.
type Choice string

// The answers a person may give.
const (
	Once    Choice = "once"
	Session Choice = "session"
	Deny    Choice = "deny"
)

// ByEsc is who answers a question that ended because what asked it was ended.
const ByEsc = "esc"

// Answered ends a question. By names who answered; the first answer wins.
type Answered struct {
	Call   string `json:"call"`
	By     string `json:"by"`
	Choice Choice `json:"choice"`
}

// Closed ends a call with the one result it gets. Cause is what went wrong inside jig, for the log;
// no model reads it.
type Closed struct {
	Call   string      `json:"call"`
	Result tool.Result `json:"result"`
	Cause  string      `json:"cause,omitempty"`
}

// Why says how a turn ended.
type Why string

// How a turn may end.
const (
	Done        Why = "done"
	Interrupted Why = "interrupted"
	Failed      Why = "failed"
)

// Ended ends a turn. Error is one line for a person, "" when all went well.
type Ended struct {
	Why    Why    `json:"why"`
	Error  string `json:"error,omitempty"`
	Rounds int    `json:"rounds"`
	// Note is one line a person should know although all went well.
	Note string `json:"note,omitempty"`
	// Limited says that the provider wants fewer requests; After is how long after the end it may be
	// tried again, 0 when it did not say. It is written in seconds.
	Limited bool          `json:"limited,omitempty"`
	After   time.Duration `json:"after,omitempty"`
	// What is Error without its advice, for a wait that follows the advice. It is not written.
	What string `json:"-"`
}

// Cost says at the end of a turn what was spent, in US dollars: by the turn and by the whole session.
// It is only said where prices are known, something was spent, or there are answers in vain.
type Cost struct {
	Turn    money.Amount `json:"turn"`
	Session money.Amount `json:"session"`
	// Children is the part of the session's that other programs spent which its commands started.
	Children money.Amount `json:"children,omitempty"`
	// Limit is the most that the session may spend before it is started again; nil is no limit.
	Limit *money.Amount `json:"limit,omitempty"`
	// Estimated says that a part was worked out from sizes, because a provider did not count.
	Estimated bool `json:"estimated,omitempty"`
	// Vain are the answers since the last such fact that no other one tells of, and VainUsage their tokens:
	// those to requests for a summary of which none came.
	Vain      int        `json:"vain,omitempty"`
	VainUsage *msg.Usage `json:"vain_usage,omitempty"`
}

// Rewound makes everything from fact number Before on void, itself excepted. Before is the number of a
// person's message. What was spent stays spent.
type Rewound struct {
	Before uint64 `json:"before"`
}

// Compacted puts a summary in the place of every message that was said up to fact number Through.
type Compacted struct {
	Through uint64      `json:"through"`
	Summary msg.Message `json:"summary"`
	Usage   *msg.Usage  `json:"usage,omitempty"`   // of the request that made the summary, and of those before it
	Asked   int         `json:"asked,omitempty"`   // how many those were together, where the first answer was of no use
	Archive string      `json:"archive,omitempty"` // the file with the whole text of what was summed up
	// Before and After are how many tokens the conversation was thought to have.
	Before int `json:"before_tokens"`
	After  int `json:"after_tokens"`
}

// CallCompaction is the call that a question is about whether the older part of a conversation may be
// summed up.
const CallCompaction = "compaction"

// GoalStatus says what becomes of a goal.
type GoalStatus string

// An active goal goes on by itself; a blocked one waits for a person. Neither is no goal.
const (
	GoalActive  GoalStatus = "active"
	GoalBlocked GoalStatus = "blocked"
	GoalDone    GoalStatus = "complete"
	GoalCleared GoalStatus = "cleared"
)

// Goal says what the session's goal is from now on.
type Goal struct {
	Objective string     `json:"objective"`
	Status    GoalStatus `json:"status"`
	Why       string     `json:"why,omitempty"` // of a blocked one: one line for a person
	By        string     `json:"by"`            // person, model or jig
}

// Titled names the session for people.
type Titled struct {
	Title string `json:"title"`
}

// Forked says in a copy of a session what it is a copy of: the facts before this one are the other's.
type Forked struct {
	From string `json:"from"` // the other's id
}

func (Began) fact()     {}
func (Rewound) fact()   {}
func (Compacted) fact() {}
func (Goal) fact()      {}
func (Titled) fact()    {}
func (Forked) fact()    {}
func (Said) fact()      {}
func (Opened) fact()    {}
func (Asked) fact()     {}
func (Answered) fact()  {}
func (Closed) fact()    {}
func (Cost) fact()      {}
func (Ended) fact()     {}

// Event is a fact with its number or, with Seq 0, the present value of one key of the now. A nil
// Now means that the key is gone. Values are whole, never increments: a slow reader gets the newest.
type Event struct {
	Seq  uint64
	Fact Fact
	Key  string
	Now  any
}

// The keys of the now.
const (
	KeyReply   = "reply"   // Writing: the reply that is coming
	KeyCall    = "call/"   // + call id; tool.Card: a call's progress
	KeyJobs    = "jobs"    // []Job: what runs beside the turns, oldest first
	KeyWaiting = "waiting" // Waiting: what a session waits for that has nothing else to do
	KeyBroken  = "broken"  // Ended: how the last turn ended, which could not be logged; nothing more comes

	KeyCompacting = "compacting" // Compacting: a summary is being made
)

// Compacting is a summary that is being made of a conversation's older part.
type Compacting struct {
	Since  time.Time `json:"since"`
	Tokens int       `json:"tokens"` // that the whole conversation is thought to have
}

// Job is something that runs beside the turns.
type Job struct {
	ID    string `json:"id"`    // such as b3
	Call  string `json:"call"`  // the call that left it running
	Label string `json:"label"` // its command in one line
	// Command is the whole of it, as the model wrote it.
	Command string    `json:"command"`
	Pid     int       `json:"pid"` // as the commands see it
	Log     string    `json:"log"` // the file with its output
	Start   time.Time `json:"start"`
}

// Waiting is a session that only waits: for its jobs, until a request is made again, or for an answer
// of which nothing comes.
type Waiting struct {
	Jobs    []Job     `json:"jobs,omitempty"`
	Since   time.Time `json:"since"`
	Retry   *Retry    `json:"retry,omitempty"`
	Silence *Silence  `json:"silence,omitempty"`
}

// KindSilence is the kind of a Silence.
const KindSilence = "silence"

// Silence is a request of whose answer nothing has come for a while.
type Silence struct {
	Provider string  `json:"provider"`
	Kind     string  `json:"kind"`   // KindSilence
	Why      string  `json:"why"`    // one line for a person
	Silent   float64 `json:"silent"` // for how many seconds
	Try      int     `json:"try"`    // the one that is silent, from 1
}

// Retry is a request that failed and will be made again.
type Retry struct {
	Provider string    `json:"provider"`
	Kind     string    `json:"kind"` // what failed: limit, server or network
	Why      string    `json:"why"`  // one line for a person
	Until    time.Time `json:"until"`
	Seconds  float64   `json:"seconds"`         // until then, when it was shown
	Try      int       `json:"try,omitempty"`   // the try that comes, from 2; 0 when the turn has ended and a new one comes
	Tries    int       `json:"tries,omitempty"` // how many there are at most; 0 is no bound
}

// Writing is a reply so far.
type Writing struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Call      string `json:"call,omitempty"` // the tool whose arguments are coming
}

// Command is what a client asks of a session.
type Command interface{ command() }

// When says at which point a message lands.
type When string

// A message typed during a turn lands at the next round boundary or waits for the turn's end. With
// no turn running both start one.
const (
	Boundary When = "boundary"
	AtEnd    When = "end"
)

// Submit is a person's message.
type Submit struct {
	Text string `json:"text"`
	When When   `json:"when,omitempty"` // "" is Boundary
}

// Esc ends the innermost thing that runs: the calls, else the turn.
type Esc struct{}

// Stop ends the whole turn.
type Stop struct{}

// Answer answers the question about a call. The first answer wins; a later one is an error.
type Answer struct {
	Call   string `json:"call"`
	By     string `json:"by"`
	Choice Choice `json:"choice"`
}

// Kill ends background jobs with everything they started. Each reports its end as it always does.
type Kill struct {
	Jobs []string `json:"jobs"` // ids
}

// Rewind goes back to before a person's message, whose fact number it gives. It needs an idle session.
type Rewind struct {
	Before uint64 `json:"before"`
}

// TryAgain runs another turn on the conversation as it is. It needs an idle session.
type TryAgain struct{}

// Compact sums up the older part of the conversation. It needs an idle session. Guidance says what the
// summary should keep, "" leaves it to the model.
type Compact struct {
	Guidance string `json:"guidance,omitempty"`
}

// Rename gives the session a title.
type Rename struct {
	Title string `json:"title"`
}

// SetGoal starts a goal.
type SetGoal struct {
	Objective string `json:"objective"`
	// Text is a message that the first turn begins with; "" lets it begin by itself.
	Text string `json:"text,omitempty"`
}

// ResumeGoal lets a blocked goal go on.
type ResumeGoal struct{}

// ClearGoal drops the goal.
type ClearGoal struct{}

func (Kill) command()       {}
func (Submit) command()     {}
func (Esc) command()        {}
func (Stop) command()       {}
func (Answer) command()     {}
func (Rewind) command()     {}
func (TryAgain) command()   {}
func (Compact) command()    {}
func (Rename) command()     {}
func (SetGoal) command()    {}
func (ResumeGoal) command() {}
func (ClearGoal) command()  {}

// Active reports whether there is a goal that goes on by itself.
func (g Goal) Active() bool { return g.Status == GoalActive }

// None reports whether there is no goal, neither an active nor a blocked one.
func (g Goal) None() bool { return g.Status != GoalActive && g.Status != GoalBlocked }

// Host is what a client needs of the host, in one process and over a wire alike.
type Host interface {
	// Do carries out a command. An error says, for a person, why it could not.
	Do(ctx context.Context, session string, c Command) error
	// Watch yields the facts after a number and the newest value of each key of the now, until ctx
	// ends or the session is closed. Attaching and reconnecting are this one call.
	Watch(ctx context.Context, session string, after uint64) iter.Seq[Event]
}
