package history_test

import (
	"strings"
	"testing"

	"jig/internal/history"
)

func TestRepositoryIsHostOwnerAndNameOfEachRemote(t *testing.T) {
	for config, want := range map[string]string{
		"": "",
		"[core]\n\turl = https://example.org/no/remote\n":                                                                                              "",
		"[remote \"origin\"]\n\turl = https://github.com/owner/name.git\n":                                                                             "github.com/owner/name",
		"[remote \"origin\"]\n\turl = https://me:secret@GitHub.com:443/owner/name/\n":                                                                  "github.com/owner/name",
		"[remote \"a\"]\n\turl = git@example.org:owner/name.git\n[branch \"main\"]\n\tremote = a\n":                                                    "example.org/owner/name",
		"[remote \"b\"]\nurl=ssh://git@b.example:22/o/n\n[remote \"a\"]\nURL = x@a.example:o/n\n[remote \"origin\"]\n url = \"https://o.example/o/n\"": "o.example/o/n,a.example/o/n,b.example/o/n",
		"[remote \"a\"]\nurl=https://x.example/o/n\nurl=git@x.example:o/n\n":                                                                           "x.example/o/n",
		"[remote \"a\"]\nurl=/srv/git/x.git\n[remote \"b\"]\nurl=file:///srv/x\n[remote \"c\"]\nurl=../x\n[remote \"d\"]\nurl=C:\\x\n":                 "",
		"[remote \"a\"]\nurl=https://\x7f\x00bad\n":                                                                                                    "",
	} {
		if got := history.Remotes([]byte(config)); got != want {
			t.Errorf("%s: %q", config, got)
		}
	}
}

func FuzzRemotes(f *testing.F) {
	f.Add([]byte("[remote \"origin\"]\n\turl = https://me:secret@example.org/owner/name.git\n"))
	f.Add([]byte("[remote \"\nurl=@:@\n[remote \"x\"]\nurl = a:b@c:d@e"))
	f.Fuzz(func(t *testing.T, config []byte) {
		for place := range strings.SplitSeq(history.Remotes(config), ",") {
			if host, _, _ := strings.Cut(place, "/"); strings.Contains(host, "@") {
				t.Fatalf("%q tells who logs in", place)
			}
		}
	})
}
