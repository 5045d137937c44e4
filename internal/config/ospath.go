package config

import (
	"path"
	"strings"
)

// The functions here follow the rules of the system that is named, not of the one they
// run on: path/filepath would give a Unix answer about a Windows machine.

func separator(goos string) string {
	if goos == "windows" {
		return `\`
	}
	return "/"
}

// volume splits off a drive (C:) or a share (\\server\share).
func volume(goos, p string) (vol, rest string) {
	if goos != "windows" {
		return "", p
	}
	p = strings.ReplaceAll(p, "/", `\`)
	if len(p) >= 2 && p[1] == ':' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z') {
		return p[:2], p[2:]
	}
	if host, ok := strings.CutPrefix(p, `\\`); ok {
		server, share, found := strings.Cut(host, `\`)
		if server == "" || !found {
			return "", p
		}
		share, tail, _ := strings.Cut(share, `\`)
		return `\\` + server + `\` + share, `\` + tail
	}
	return "", p
}

// IsAbs tells whether a path is complete on the system.
func IsAbs(goos, p string) bool {
	vol, rest := volume(goos, p)
	if goos == "windows" {
		return vol != "" && strings.HasPrefix(rest, `\`)
	}
	return strings.HasPrefix(rest, "/")
}

// Clean gives the shortest spelling of a path.
func Clean(goos, p string) string {
	vol, rest := volume(goos, p)
	if goos != "windows" {
		return path.Clean(p)
	}
	return vol + strings.ReplaceAll(path.Clean(strings.ReplaceAll(rest, `\`, "/")), "/", `\`)
}

// Join puts parts together with the system's separator; empty parts count for nothing.
func Join(goos string, parts ...string) string {
	var have []string
	for _, p := range parts {
		if p != "" {
			have = append(have, p)
		}
	}
	if len(have) == 0 {
		return ""
	}
	return Clean(goos, strings.Join(have, separator(goos)))
}

// Parent gives the folder a path lies in; the top is its own parent.
func Parent(goos, p string) string {
	p = Clean(goos, p)
	vol, rest := volume(goos, p)
	i := strings.LastIndex(rest, separator(goos))
	switch {
	case i < 0:
		return vol + "."
	case i == 0:
		return vol + separator(goos)
	}
	return vol + rest[:i]
}

// Base gives a path's last part.
func Base(goos, p string) string {
	_, rest := volume(goos, Clean(goos, p))
	return rest[strings.LastIndex(rest, separator(goos))+1:]
}

// samePath tells whether two clean paths name the same place as far as spelling tells.
// Windows ignores case; elsewhere a difference of case is a difference, which at worst
// asks once more.
func samePath(goos, a, b string) bool {
	if goos == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// absolute completes a path written in a file of dir, with ~ for the home folder.
func (e Env) absolute(dir, p string) string {
	if p == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(p, "~"); ok && e.Home != "" {
		if rest == "" || rest[0] == '/' || e.GOOS == "windows" && rest[0] == '\\' {
			return Join(e.GOOS, e.Home, rest)
		}
	}
	if IsAbs(e.GOOS, p) || dir == "" {
		return Clean(e.GOOS, p)
	}
	return Join(e.GOOS, dir, p)
}
