package history

import (
	"net/url"
	"slices"
	"strings"
)

// The attributes that every session has.
const (
	Source     = "source"     // the machine that it ran on
	Repository = "repository" // host/owner/name of its project's remotes, or the project's root
)

// Remotes reads a git configuration and gives the remotes' host/owner/name, comma-joined: origin first,
// then by name. "" says that there are none. Names and passwords that stand in a remote are left out.
func Remotes(config []byte) string {
	type remote struct{ name, place string }
	var all []remote
	section := ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		name, ok := strings.CutPrefix(section, `[remote "`)
		key, value, has := strings.Cut(line, "=")
		if !ok || !has || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		if place := placeOf(strings.Trim(strings.TrimSpace(value), `"`)); place != "" {
			all = append(all, remote{strings.TrimSuffix(name, `"]`), place})
		}
	}
	slices.SortStableFunc(all, func(a, b remote) int {
		if (a.name == "origin") != (b.name == "origin") {
			if a.name == "origin" {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, r := range all {
		if !slices.Contains(out, r.place) {
			out = append(out, r.place)
		}
	}
	return strings.Join(out, ",")
}

// placeOf is host/owner/name of a remote, "" where it is a folder of this machine.
func placeOf(remote string) string {
	host, path := "", ""
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || u.Scheme == "file" {
			return ""
		}
		host, path = u.Hostname(), u.Path
	} else { // user@host:owner/name
		h, p, ok := strings.Cut(remote, ":")
		if !ok || len(h) < 2 || strings.ContainsAny(h, `/\`) { // a single letter is a drive
			return ""
		}
		host, path = h[strings.LastIndexByte(h, '@')+1:], p
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if host == "" || path == "" {
		return ""
	}
	return strings.ToLower(host) + "/" + path
}
