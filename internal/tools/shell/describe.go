package shell

import (
	_ "embed"
	"strings"

	"jig/internal/sandbox"
	"jig/internal/tool"
)

var (
	//go:embed posix.md
	posixDoc string
	//go:embed powershell.md
	powershellDoc string
	//go:embed cmd.md
	cmdDoc string
	//go:embed jobs.md
	jobsDoc string
)

// describe is what the model reads of the tool: which interpreter and how to write for it, the
// regime it runs in, and how jobs work.
func (s *Shell) describe() string {
	in := s.interp
	pipefail := ""
	switch {
	case in.name == "Git Bash", in.name == "bash", in.name == "zsh", in.name == "ksh":
		pipefail = "A pipeline's status is its last command's: start with `set -o pipefail;` where an earlier one matters. "
	case in.dialect.name == "posix":
		pipefail = "A pipeline's status is its last command's. "
	}
	regime := sandbox.Describe(s.tier, s.policy())
	if s.self != nil {
		regime += " A jig command on its own (no pipe, chain or expansion) runs outside the sandbox."
	}
	r := strings.NewReplacer("{interpreter}", in.name, "{pipefail}", pipefail, "{yield}", s.opts.Yield.String(),
		"{tail}", in.tail("LOG"), "{detach}", in.detach)
	return r.Replace(strings.TrimSpace(in.doc)) + " " + regime + "\n\n" + r.Replace(strings.TrimSpace(jobsDoc))
}

func params(in interpreter) tool.Params {
	return tool.Params{
		{Name: "command", Type: tool.String, Required: true, Doc: "the command line, such as " + in.example},
		{Name: "cwd", Type: tool.String, Doc: "working directory; default: the project root"},
		{Name: "timeout", Type: tool.Integer, Doc: "kill the command after this many seconds; default: never"},
		{Name: "background", Type: tool.Boolean, Doc: "do not wait: return a job id at once"},
	}
}
