package code

import (
	"path"
	"strings"

	"jig/internal/tool"
)

// Failures of path arguments, common to all tools of the set.
var (
	outside   = tool.Fails("path is outside the project root ({root}): {path}")
	unusable  = tool.Fails("path is not one that Windows can name safely: {path}")
	lookalike = tool.Fails("{path} does not exist, and several names differ from it only in their Unicode form: {names}")
)

var pathFailures = []*tool.Failure{outside, unusable, lookalike}

// confine resolves a path argument against the root, lexically, and says where below the root it
// leads: a clean relative path with slashes, "." for the root. It takes the operating system as an
// argument and touches no disk, so that every system's rules are tested on each of them.
func confine(goos, root, arg string) (string, *tool.Failure) {
	rel, fail := within(goos, root, arg)
	if fail != nil || goos != "windows" || rel == "." {
		return rel, fail
	}
	for name := range strings.SplitSeq(rel, "/") {
		if !plainWindowsName(name) {
			return "", unusable
		}
	}
	return rel, nil
}

// within is confine without a look at the names, which may be those of a pattern.
func within(goos, root, arg string) (string, *tool.Failure) {
	if goos == "windows" {
		return withinWindows(root, arg)
	}
	full := path.Clean(arg)
	if !strings.HasPrefix(arg, "/") {
		full = path.Join(root, arg)
	}
	return below(root, full, func(a, b string) bool { return a == b })
}

// below says what of full lies below root. Both are clean and use slashes.
func below(root, full string, same func(a, b string) bool) (string, *tool.Failure) {
	if same(full, root) {
		return ".", nil
	}
	if root = strings.TrimSuffix(root, "/") + "/"; len(full) > len(root) && same(full[:len(root)], root) {
		return full[len(root):], nil
	}
	return "", outside
}

// withinWindows knows drives, UNC shares and both separators.
func withinWindows(root, arg string) (string, *tool.Failure) {
	root, arg = strings.ReplaceAll(root, `\`, "/"), strings.ReplaceAll(arg, `\`, "/")
	rootVolume, rootRest := volume(root)
	vol, rest := volume(arg)
	switch {
	case vol == "device":
		return "", outside
	case vol == "" && strings.HasPrefix(rest, "/"):
		vol = rootVolume // rooted on the current drive, which is taken to be the root's
	case vol == "":
		vol, rest = rootVolume, rootRest+"/"+rest
	case !strings.HasPrefix(rest, "/"):
		return "", outside // C:name is relative to a directory that only the drive remembers
	}
	return below(rootVolume+path.Clean("/"+rootRest), vol+path.Clean("/"+rest), strings.EqualFold)
}

// volume splits a path with slashes into its volume, such as C: or //server/share, and the rest.
// Device paths such as //?/C:/x, which bypass all rules, have the volume "device".
func volume(p string) (vol, rest string) {
	switch {
	case strings.HasPrefix(p, "//?/"), strings.HasPrefix(p, "//./"), strings.HasPrefix(p, "/??/"):
		return "device", p
	case strings.HasPrefix(p, "//"):
		parts := strings.SplitN(p[2:], "/", 3)
		if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
			return "device", p
		}
		if len(parts) == 2 {
			return p, "/"
		}
		return "//" + parts[0] + "/" + parts[1], "/" + parts[2]
	case len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z'):
		return p[:2], p[2:]
	}
	return "", p
}

// plainWindowsName says whether a name means a file of exactly this name, and neither a device nor a
// stream of another file nor, because Windows drops dots and spaces at the end, another name: ".. "
// would climb out of the root.
func plainWindowsName(name string) bool {
	if strings.ContainsAny(name, "<>:\"|?*") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return false
	}
	for i := range len(name) {
		if name[i] < ' ' {
			return false
		}
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return false
	}
	if tail, ok := strings.CutPrefix(base, "COM"); ok || strings.HasPrefix(base, "LPT") {
		if !ok {
			tail = base[3:]
		}
		switch tail {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return false
		}
	}
	return true
}
