package shell

import "strings"

// dialect is the language a command line is written in.
type dialect struct {
	name      string
	arguments []string // what stands between the interpreter's name and the command
	doc       string   // what the model is told, with blanks
	example   string   // of a command
	detach    string   // how a process outlives the session
	enter     func(dir, command string) string
	tail      func(log string) string // how to look at a log
	follow    func(log string) string // the same for one that grows
	quote     func(path string) string
}

func posix() *dialect {
	return &dialect{
		name: "posix", arguments: []string{"-c"}, doc: posixDoc,
		example: "go test ./... 2>&1 | tail -20",
		detach:  "nohup, setsid",
		enter:   func(dir, command string) string { return "cd " + dir + " && " + command },
		tail:    func(log string) string { return "tail -n 50 " + log },
		follow:  func(log string) string { return "tail -f " + log },
		quote:   func(s string) string { return quoted(s, "/._-+@%,=:", "'", `'\''`) },
	}
}

func powershell() *dialect {
	tail := func(log string) string { return "Get-Content -Tail 50 " + log }
	return &dialect{
		name: "powershell", arguments: []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-Command"}, doc: powershellDoc,
		example: "cargo test 2>&1 | Select-Object -Last 20",
		detach:  "Start-Process",
		enter:   func(dir, command string) string { return "cd " + dir + "; " + command },
		tail:    tail, follow: tail,
		quote: func(s string) string { return quoted(s, `/\:._-+`, "'", "''") },
	}
}

func cmd() *dialect {
	tail := func(log string) string { return "type " + log }
	return &dialect{
		name: "cmd", arguments: []string{"/C"}, doc: cmdDoc,
		example: "cargo test 2>&1 | findstr /i error",
		detach:  "start /b",
		enter:   func(dir, command string) string { return "cd /d " + dir + " && " + command },
		tail:    tail, follow: tail,
		quote: func(s string) string { return quoted(s, `/\:._-+`, `"`, `"`) },
	}
}

// quoted puts a path in quotes where it needs them; safe names what is harmless in the dialect.
func quoted(s, safe, quote, inner string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(safe, r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return quote + strings.ReplaceAll(s, quote, inner) + quote
}

// stem is a program's name without folder and ending, as far as it tells which dialect it reads.
func stem(program string) string {
	if i := strings.LastIndexAny(program, `/\`); i >= 0 {
		program = program[i+1:]
	}
	program = strings.ToLower(program)
	return strings.TrimSuffix(program, ".exe")
}

// dialectOf tells by a program's name what it reads. Whatever is not known is of the POSIX family,
// which nearly everything else is.
func dialectOf(program string) *dialect {
	switch stem(program) {
	case "pwsh", "powershell":
		return powershell()
	case "cmd":
		return cmd()
	}
	return posix()
}
