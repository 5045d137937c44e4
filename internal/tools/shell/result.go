package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"jig/internal/process"
)

const (
	lostText = "the process that starts commands ended, and this command with it"
	fullText = "ended because its output would leave less than 1 GiB free on the disk its log file is on"
)

// outcome is what the model reads of a command that ended, and whether that is an error.
func outcome(st process.State, out string, limit time.Duration) (text string, failed bool) {
	switch {
	case st.Lost:
		return withLine(out, "[failed to run: "+lostText+"]"), true
	case st.TimedOut:
		return withLine(out, "[command timed out after "+limit.String()+"]"), true
	case st.Cancelled:
		return withLine(out, "[command cancelled]"), true
	case st.LogFull:
		return withLine(out, "[command "+fullText+"]"), true
	case st.Exit != 0:
		return withLine(out, fmt.Sprintf("[exit code %d]", st.Exit)), true
	case blank(out):
		return "[command produced no output]", false
	}
	return out, false
}

// notice is what the model reads of a job that ended.
func notice(id, label string, st process.State, out string) string {
	status := fmt.Sprintf("exit %d after %s", st.Exit, elapsed(st.Took))
	switch {
	case st.TimedOut:
		status = "timed out after " + elapsed(st.Took)
	case st.Cancelled, st.LogFull, st.Lost:
		status = "killed"
	}
	text := fmt.Sprintf("[background job %s finished: %s] %s", id, status, label)
	if !blank(out) {
		text += "\n" + out
	}
	switch {
	case st.LogFull:
		text = withLine(text, "[it "+fullText+"]")
	case st.Lost:
		text = withLine(text, "["+lostText+"]")
	}
	return text
}

// yielded is what the model reads of a call that stopped waiting.
func (in interpreter) yielded(j *job, yield time.Duration, out string) string {
	first := fmt.Sprintf("Still running after %s as background job %s (pid %s). ", yield, j.ID, pid(j.Pid))
	if blank(out) {
		first += "No output so far."
	} else {
		first = withLine(first+"Output so far:\n"+out, "")
	}
	const told = "A notice with its exit status and output arrives when it finishes; do not poll "
	if j.noLog != nil {
		return withLine(first, fmt.Sprintf(told+"(there is no output file: %v).", j.noLog))
	}
	return withLine(first, fmt.Sprintf(told+"(`%s` only if you need progress).", in.follow(in.quote(j.Log))))
}

// started is what the model reads of a background call.
func (in interpreter) started(j *job) string {
	if j.noLog != nil {
		return fmt.Sprintf("Started background job %s (pid %s). There is no output file: %v\nA notice with its exit status and output arrives when it finishes.",
			j.ID, pid(j.Pid), j.noLog)
	}
	return fmt.Sprintf("Started background job %s (pid %s). Output: %s\nA notice with its exit status and output arrives when it finishes; run `%s` to see progress meanwhile.",
		j.ID, pid(j.Pid), j.Log, in.tail(in.quote(j.Log)))
}

func pid(n int) string {
	if n == 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

// withLine puts a line after a text, on a line of its own.
func withLine(text, line string) string {
	switch {
	case blank(text):
		return line
	case strings.HasSuffix(text, "\n"):
		return text + line
	}
	return text + "\n" + line
}

// blank texts are as good as none, and no provider takes them.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// goesOn says what outlives the session.
func goesOn(left []process.Left) string {
	if len(left) == 0 {
		return ""
	}
	const most = 5
	var names []string
	for i, l := range left {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(left)-most))
			break
		}
		number := l.HostPid
		if number == 0 {
			number = l.Pid
		}
		names = append(names, fmt.Sprintf("%s (pid %s)", label(l.Command), pid(number)))
	}
	what := "1 process that detached itself goes on: "
	if len(left) > 1 {
		what = fmt.Sprintf("%d processes that detached themselves go on: ", len(left))
	}
	return what + strings.Join(names, ", ")
}
