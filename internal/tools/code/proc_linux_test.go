package code

import (
	"os"
	"strings"
	"testing"
)

func TestFilesThatSayTheyAreEmptyAreReadAllTheSame(t *testing.T) {
	p := given(t, nil)
	p.must(os.Symlink("/proc/self/status", p.path("status")))
	p.must(os.Symlink("/proc/self/maps", p.path("maps")))
	if o := p.call("read_file", args{"path": "status", "limit": 1}); !strings.HasPrefix(o.text, "     1\tName:\t") {
		t.Errorf("%q", o.text)
	}
	if o := p.call("read_file", args{"path": "maps"}); o.err != nil || !strings.Contains(o.text, "\n     2\t") {
		t.Errorf("%q", brief(o.text))
	}
}
