package config

import (
	"errors"
	"slices"
)

// Places are the folders of this program on a machine. Nothing says that they exist.
type Places struct {
	Config string // config.yaml, personas/, skills/, prompts/
	Data   string // the database
	State  string // logs, trust, what was found out about the machine
	Cache  string // may be deleted at any time
	Agents string // ~/.agents/skills, which other programs read too
}

// UserPlaces gives the folders for a user. The XDG variables count where they hold an
// absolute path, as their specification says, on macOS too; on Windows the
// configuration is under %AppData% and the cache under %LocalAppData%. Without a home
// folder it fails: a relative place would make whatever lies in the working directory
// the user's own configuration.
func UserPlaces(e Env) (Places, error) {
	if !IsAbs(e.GOOS, e.Home) {
		return Places{}, errors.New("no home folder: set " + homeVariable(e.GOOS) + " to an absolute path")
	}
	at := func(variable string, fallback ...string) string {
		dir, _ := e.getenv(variable)
		if !IsAbs(e.GOOS, dir) {
			dir = Join(e.GOOS, append([]string{e.Home}, fallback...)...)
		}
		return Join(e.GOOS, dir, "jig")
	}
	p := Places{
		Config: at("XDG_CONFIG_HOME", ".config"),
		Data:   at("XDG_DATA_HOME", ".local", "share"),
		State:  at("XDG_STATE_HOME", ".local", "state"),
		Agents: Join(e.GOOS, e.Home, ".agents", "skills"),
	}
	switch e.GOOS {
	case "windows":
		p.Config = at("AppData", "AppData", "Roaming")
		p.Cache = at("LocalAppData", "AppData", "Local")
	case "darwin", "ios":
		p.Cache = Join(e.GOOS, e.Home, "Library", "Caches", "jig")
	default:
		p.Cache = at("XDG_CACHE_HOME", ".cache")
	}
	return p, nil
}

func homeVariable(goos string) string {
	if goos == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// LevelDir is the name of a project level's folder.
const LevelDir = ".jig"

// ProjectRoot gives the nearest folder from cwd upwards that hasGit says holds a .git
// entry (a folder, or the file of a linked worktree), else cwd.
func ProjectRoot(goos, cwd string, hasGit func(dir string) bool) string {
	cwd = Clean(goos, cwd)
	for dir := cwd; ; {
		if hasGit(dir) {
			return dir
		}
		up := Parent(goos, dir)
		if up == dir || !IsAbs(goos, up) {
			return cwd
		}
		dir = up
	}
}

// ProjectLevels gives the level folders from the project root down to cwd, farthest
// first, so that an index is a [Source.Depth]. A cwd outside root has its own alone.
func ProjectLevels(goos, root, cwd string) []string {
	root, cwd = Clean(goos, root), Clean(goos, cwd)
	var dirs []string
	for dir := cwd; ; {
		dirs = append(dirs, Join(goos, dir, LevelDir))
		if samePath(goos, dir, root) {
			slices.Reverse(dirs)
			return dirs
		}
		up := Parent(goos, dir)
		if up == dir || !IsAbs(goos, up) {
			return dirs[:1]
		}
		dir = up
	}
}
