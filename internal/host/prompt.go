package host

import (
	"fmt"
	"strings"
)

// Surroundings is what a model is told of where it works. All of it is fixed when a session starts:
// what is sent first must be the same, byte for byte, in every request.
type Surroundings struct {
	Root, Platform, Date      string
	Binary                    string // of the running program; "" when the system cannot say
	UserConfig, ProjectConfig string // paths; "" is absent
}

// rules are what holds for every agent with tools, whatever its own prompt says.
const rules = `You work through jig, an agent harness on the user's machine. Do the task with your tools rather than describing it, check the outcome with them, and end with a short account of what you did. A call the user declined stays declined: do not repeat it. A permission error or a refused path is a limit set on purpose: report it instead of working around it.`

// Prompt is the system prompt: the harness's part, when the agent has a toolset of its own, and what
// the agent's author wrote. Without tools the author's words go alone.
func Prompt(harness bool, s Surroundings, instructions string) string {
	instructions = strings.TrimSpace(instructions)
	if !harness {
		return instructions
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n<environment>\n", rules)
	for _, row := range [][2]string{
		{"project root", s.Root}, {"platform", s.Platform}, {"date", s.Date},
		{"jig binary", or(s.Binary, "(unknown)")},
		{"user config", or(s.UserConfig, "(absent)")}, {"project config", or(s.ProjectConfig, "(absent)")},
	} {
		fmt.Fprintf(&b, "%s: %s\n", row[0], strings.Join(strings.Fields(row[1]), " "))
	}
	b.WriteString("</environment>")
	if instructions != "" {
		fmt.Fprintf(&b, "\n\n<instructions>\n%s\n</instructions>", instructions)
	}
	return b.String()
}

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
