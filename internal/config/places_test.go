package config

import (
	"strings"
	"testing"
)

func TestPlacesFollowEachSystemsRules(t *testing.T) {
	for _, c := range []struct {
		name, goos, home                   string
		vars                               []string
		config, data, state, cache, agents string
	}{
		{"linux", "linux", "/home/u", nil,
			"/home/u/.config/jig", "/home/u/.local/share/jig", "/home/u/.local/state/jig", "/home/u/.cache/jig", "/home/u/.agents/skills"},
		{"linux with XDG", "linux", "/home/u", []string{"XDG_CONFIG_HOME=/x/c", "XDG_DATA_HOME=/x/d/", "XDG_STATE_HOME=/x/s", "XDG_CACHE_HOME=/x/k"},
			"/x/c/jig", "/x/d/jig", "/x/s/jig", "/x/k/jig", "/home/u/.agents/skills"},
		{"relative or empty XDG values do not count", "linux", "/home/u", []string{"XDG_CONFIG_HOME=c", "XDG_DATA_HOME=", "XDG_STATE_HOME=./s", "XDG_CACHE_HOME=~"},
			"/home/u/.config/jig", "/home/u/.local/share/jig", "/home/u/.local/state/jig", "/home/u/.cache/jig", "/home/u/.agents/skills"},
		{"darwin", "darwin", "/Users/u", nil,
			"/Users/u/.config/jig", "/Users/u/.local/share/jig", "/Users/u/.local/state/jig", "/Users/u/Library/Caches/jig", "/Users/u/.agents/skills"},
		{"darwin with XDG", "darwin", "/Users/u", []string{"XDG_CONFIG_HOME=/x/c", "XDG_CACHE_HOME=/x/k"},
			"/x/c/jig", "/Users/u/.local/share/jig", "/Users/u/.local/state/jig", "/Users/u/Library/Caches/jig", "/Users/u/.agents/skills"},
		{"windows", "windows", `C:\Users\u`, []string{`AppData=D:\Roaming`, `LocalAppData=D:\Local`, `XDG_CONFIG_HOME=D:\xdg`},
			`D:\Roaming\jig`, `C:\Users\u\.local\share\jig`, `C:\Users\u\.local\state\jig`, `D:\Local\jig`, `C:\Users\u\.agents\skills`},
		{"windows without variables", "windows", `C:/Users/u/`, nil,
			`C:\Users\u\AppData\Roaming\jig`, `C:\Users\u\.local\share\jig`, `C:\Users\u\.local\state\jig`, `C:\Users\u\AppData\Local\jig`, `C:\Users\u\.agents\skills`},
		{"windows share", "windows", `\\srv\home\u`, nil,
			`\\srv\home\u\AppData\Roaming\jig`, `\\srv\home\u\.local\share\jig`, `\\srv\home\u\.local\state\jig`, `\\srv\home\u\AppData\Local\jig`, `\\srv\home\u\.agents\skills`},
		{"freebsd", "freebsd", "/home/u", nil,
			"/home/u/.config/jig", "/home/u/.local/share/jig", "/home/u/.local/state/jig", "/home/u/.cache/jig", "/home/u/.agents/skills"},
	} {
		env := machine(c.vars...)
		env.GOOS, env.Home = c.goos, c.home
		p, err := UserPlaces(env)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		equalTo(t, c.name, p, Places{c.config, c.data, c.state, c.cache, c.agents})
	}
}

// TestWithoutAHomeThereAreNoPlaces: a relative place would let the working directory be
// the user's configuration.
func TestWithoutAHomeThereAreNoPlaces(t *testing.T) {
	for _, c := range []struct{ goos, home, want string }{
		{"linux", "", "no home folder: set HOME to an absolute path"},
		{"linux", "home", "no home folder: set HOME to an absolute path"},
		{"linux", `C:\Users`, "no home folder: set HOME to an absolute path"},
		{"windows", "", "no home folder: set USERPROFILE to an absolute path"},
		{"windows", `\Users\u`, "no home folder: set USERPROFILE to an absolute path"},
		{"windows", "C:Users", "no home folder: set USERPROFILE to an absolute path"},
	} {
		env := machine()
		env.GOOS, env.Home = c.goos, c.home
		if _, err := UserPlaces(env); err == nil || err.Error() != c.want {
			t.Errorf("%s %q: %v", c.goos, c.home, err)
		}
	}
}

func TestTheProjectRootIsTheNearestGitEntry(t *testing.T) {
	for _, c := range []struct{ goos, cwd, git, want string }{
		{"linux", "/a/b/c", "/a", "/a"},
		{"linux", "/a/b/c", "/a /a/b", "/a/b"},
		{"linux", "/a/b/c", "/a/b/c", "/a/b/c"},
		{"linux", "/a/b/c", "", "/a/b/c"},
		{"linux", "/a/b/c/", "/", "/"},
		{"linux", "/", "", "/"},
		{"linux", "relative/x", "", "relative/x"},
		{"windows", `C:\a\b`, `C:\a`, `C:\a`},
		{"windows", `C:\a\b`, `C:\`, `C:\`},
		{"windows", `C:\a\b`, "", `C:\a\b`},
		{"windows", `\\srv\share\a\b`, `\\srv\share\`, `\\srv\share\`},
		{"windows", `\\srv\share\a\b`, "", `\\srv\share\a\b`},
	} {
		has := func(dir string) bool {
			for _, g := range strings.Fields(c.git) {
				if g == dir {
					return true
				}
			}
			return false
		}
		equalTo(t, c.cwd+" with git in "+c.git, ProjectRoot(c.goos, c.cwd, has), c.want)
	}
}

func TestProjectLevelsRunFromTheRootDownToCwd(t *testing.T) {
	for _, c := range []struct{ goos, root, cwd, want string }{
		{"linux", "/a", "/a/b/c", "/a/.jig /a/b/.jig /a/b/c/.jig"},
		{"linux", "/a/", "/a/b/../b", "/a/.jig /a/b/.jig"},
		{"linux", "/a", "/a", "/a/.jig"},
		{"linux", "/", "/a", "/.jig /a/.jig"},
		{"linux", "/a/b", "/a/bc", "/a/bc/.jig"}, // no level of a folder that only looks alike
		{"linux", "/x", "/a/b", "/a/b/.jig"},
		{"linux", "/a", "b", "b/.jig"},
		{"windows", `C:\a`, `C:\a\b`, `C:\a\.jig C:\a\b\.jig`},
		{"windows", `c:\A`, `C:\a\b`, `C:\a\.jig C:\a\b\.jig`},
		{"windows", `C:\`, `C:\a`, `C:\.jig C:\a\.jig`},
		{"windows", `D:\a`, `C:\a\b`, `C:\a\b\.jig`},
		{"windows", `\\s\h`, `\\s\h\a`, `\\s\h\.jig \\s\h\a\.jig`},
	} {
		equalTo(t, c.root+" to "+c.cwd, strings.Join(ProjectLevels(c.goos, c.root, c.cwd), " "), c.want)
	}
}

func TestPathsFollowTheNamedSystem(t *testing.T) {
	for _, c := range []struct{ goos, in, clean, parent, base string }{
		{"linux", "/a/b/../c/", "/a/c", "/a", "c"},
		{"linux", "/a", "/a", "/", "a"},
		{"linux", "/", "/", "/", ""},
		{"linux", "a", "a", ".", "a"},
		{"linux", `a\b`, `a\b`, ".", `a\b`},
		{"windows", `C:\a\..\b\`, `C:\b`, `C:\`, "b"},
		{"windows", `C:/a/b`, `C:\a\b`, `C:\a`, "b"},
		{"windows", `C:\`, `C:\`, `C:\`, ""},
		{"windows", `\\s\h\a`, `\\s\h\a`, `\\s\h\`, "a"},
		{"windows", `a/b`, `a\b`, "a", "b"},
	} {
		equalTo(t, c.in+" clean", Clean(c.goos, c.in), c.clean)
		equalTo(t, c.in+" parent", Parent(c.goos, c.in), c.parent)
		equalTo(t, c.in+" base", Base(c.goos, c.in), c.base)
	}
	for _, c := range []struct {
		goos, path string
		want       bool
	}{
		{"linux", "/a", true}, {"linux", "a", false}, {"linux", "", false}, {"linux", `C:\a`, false},
		{"windows", `C:\a`, true}, {"windows", "c:/a", true}, {"windows", `\\s\h\a`, true}, {"windows", `\\s\h`, true},
		{"windows", `\a`, false}, {"windows", "C:a", false}, {"windows", `\\s`, false}, {"windows", "/a", false}, {"windows", "1:\\a", false},
	} {
		equalTo(t, c.goos+" "+c.path, IsAbs(c.goos, c.path), c.want)
	}
	equalTo(t, "join", Join("windows", `C:\a`, "", "b/c"), `C:\a\b\c`)
	equalTo(t, "join of nothing", Join("linux", ""), "")
}

// TestRelativePathsInAFileStartFromItsFolder on the machine the file is for.
func TestRelativePathsInAFileStartFromItsFolder(t *testing.T) {
	for _, c := range []struct{ goos, home, dir, in, want string }{
		{"linux", "/home/u", "/p/.jig", "x.md", "/p/.jig/x.md"},
		{"linux", "/home/u", "/p/.jig", "../x.md", "/p/x.md"},
		{"linux", "/home/u", "/p/.jig", "/x.md", "/x.md"},
		{"linux", "/home/u", "/p/.jig", "~/x.md", "/home/u/x.md"},
		{"linux", "/home/u", "/p/.jig", "~", "/home/u"},
		{"linux", "/home/u", "/p/.jig", "~other/x", "/p/.jig/~other/x"},
		{"linux", "/home/u", "/p/.jig", `~\x`, `/p/.jig/~\x`},
		{"windows", `C:\u`, `D:\p\.jig`, "sub/x.md", `D:\p\.jig\sub\x.md`},
		{"windows", `C:\u`, `D:\p\.jig`, `~\x.md`, `C:\u\x.md`},
		{"windows", `C:\u`, `D:\p\.jig`, `E:\x.md`, `E:\x.md`},
		{"linux", "", "/d", "~/x", "/d/~/x"},
		{"linux", "/home/u", "/d", "", ""},
	} {
		equalTo(t, c.goos+" "+c.in, Env{GOOS: c.goos, Home: c.home}.absolute(c.dir, c.in), c.want)
	}
}
