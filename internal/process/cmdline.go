package process

import "strings"

// rawCommandLine gives the command line for a program that does not read its
// arguments by the usual Windows rules, which is cmd.exe: what follows /C goes
// to it as written, inside one pair of quotes that /S makes it strip. For every
// other program ok is false, and the usual quoting applies.
func rawCommandLine(argv []string) (line string, ok bool) {
	if len(argv) != 3 || !strings.EqualFold(argv[1], "/c") {
		return "", false
	}
	name := argv[0][strings.LastIndexAny(argv[0], `\/`)+1:]
	if !strings.EqualFold(name, "cmd.exe") && !strings.EqualFold(name, "cmd") {
		return "", false
	}
	return `"` + argv[0] + `" /S /C "` + argv[2] + `"`, true
}
