package config

import (
	"fmt"
	"strings"
	"testing"
)

func files(pairs ...string) []Source {
	var list []Source
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Source{Path: pairs[i], Data: []byte(pairs[i+1])})
	}
	return list
}

// TestTheHashCoversEveryByteAndName of a level's files, and nothing else.
func TestTheHashCoversEveryByteAndName(t *testing.T) {
	base := files("/p/.jig/config.yaml", "abc", "/p/.jig/personas/x.md", "def")
	hash := Hash("linux", "/p/.jig", base)
	for name, other := range map[string][]Source{
		"content":               files("/p/.jig/config.yaml", "abd", "/p/.jig/personas/x.md", "def"),
		"a byte moved":          files("/p/.jig/config.yaml", "ab", "/p/.jig/personas/x.md", "cdef"),
		"contents swapped":      files("/p/.jig/config.yaml", "def", "/p/.jig/personas/x.md", "abc"),
		"renamed":               files("/p/.jig/config.yaml", "abc", "/p/.jig/personas/y.md", "def"),
		"file gone":             files("/p/.jig/config.yaml", "abc"),
		"file added":            append(files("/p/.jig/personas/z.md", ""), base...),
		"empty file added":      append(files("/p/.jig/personas/x.md", ""), base...),
		"name grows into bytes": files("/p/.jig/config.yamla", "bc", "/p/.jig/personas/x.md", "def"),
		"elsewhere":             files("/q/config.yaml", "abc", "/p/.jig/personas/x.md", "def"),
		"line ends":             files("/p/.jig/config.yaml", "abc\n", "/p/.jig/personas/x.md", "def"),
		"nothing":               nil,
	} {
		if Hash("linux", "/p/.jig", other) == hash {
			t.Errorf("%s: the hash is the same", name)
		}
	}
	for name, other := range map[string]string{
		"order":                Hash("linux", "/p/.jig", files("/p/.jig/personas/x.md", "def", "/p/.jig/config.yaml", "abc")),
		"spelling of the path": Hash("linux", "/p/./.jig/", files("/p/.jig/config.yaml", "abc", "/p/.jig/./personas/x.md", "def")),
		"another checkout":     Hash("linux", "/q/.jig", files("/q/.jig/config.yaml", "abc", "/q/.jig/personas/x.md", "def")),
		"on Windows":           Hash("windows", `C:\p\.jig`, files(`C:\p\.jig\config.yaml`, "abc", `C:\p\.jig\personas\x.md`, "def")),
	} {
		equalTo(t, name, other, hash)
	}
}

func TestTrustIsForOnePlaceAndOneContent(t *testing.T) {
	h1, h2 := Hash("linux", "/p", files("/p/a", "1")), Hash("linux", "/p", files("/p/a", "2"))
	var none Trust
	equalTo(t, "the zero value trusts", none.Trusts("/p/.jig", h1), false)
	one := none.With("/p/.jig", h1)
	equalTo(t, "what it was told", one.Trusts("/p/.jig", h1), true)
	equalTo(t, "another spelling", one.Trusts("/p/x/../.jig/", h1), true)
	equalTo(t, "changed content", one.Trusts("/p/.jig", h2), false)
	equalTo(t, "it knows that something changed", one.Knows("/p/.jig"), true)
	equalTo(t, "another place", one.Trusts("/q/.jig", h1), false)
	equalTo(t, "a place below", one.Trusts("/p/.jig/sub", h1), false)
	equalTo(t, "the receiver is as it was", none.Knows("/p/.jig"), false)

	two := one.With("/p/.jig", h2)
	equalTo(t, "going back to the first content asks again", !two.Trusts("/p/.jig", h1), false)
	equalTo(t, "one was not changed", one.Trusts("/p/.jig", h2), false)
	equalTo(t, "forgotten", two.Without("/p/.jig").Knows("/p/.jig"), false)
	equalTo(t, "forgetting leaves two alone", two.Trusts("/p/.jig", h2), true)
	equalTo(t, "forgetting nothing", strings.Join(two.Without("/other").Paths(), " "), "/p/.jig")

	for _, bad := range [][2]string{{"p/.jig", h1}, {"", h1}, {"/p", ""}, {"/p", "zz"}, {"/p", strings.ToUpper(h1)}, {"/p", h1 + "00"}} {
		equalTo(t, fmt.Sprint("nonsense ", bad), len(none.With(bad[0], bad[1]).Paths()), 0)
	}

	windows, err := DecodeTrust("windows", nil)
	if err != nil {
		t.Fatal(err)
	}
	equalTo(t, "case on Windows", windows.With(`C:\P\.jig`, h1).Trusts(`c:\p\.JIG`, h1), true)
	equalTo(t, "case elsewhere", one.Trusts("/P/.jig", h1), false)
}

func TestOldContentsAreForgotten(t *testing.T) {
	var trust Trust
	hash := func(i int) string { return Hash("linux", "/p", files("/p/a", fmt.Sprint(i))) }
	for i := range keptHashes + 3 {
		trust = trust.With("/p", hash(i)).With("/p", hash(2)) // one is used again and again
	}
	equalTo(t, "the newest", trust.Trusts("/p", hash(keptHashes+2)), true)
	equalTo(t, "the one in use", trust.Trusts("/p", hash(2)), true)
	equalTo(t, "the oldest", trust.Trusts("/p", hash(0)), false)
}

func TestTheStoreComesBackAsItWas(t *testing.T) {
	h := Hash("linux", "/p", nil)
	trust := Trust{}.With("/p/.jig", h).With("/a \"b\"\n/.jig", h)
	again, err := DecodeTrust("linux", trust.Encode())
	if err != nil {
		t.Fatal(err)
	}
	equalTo(t, "bytes", string(again.Encode()), string(trust.Encode()))
	equalTo(t, "odd path", again.Trusts("/a \"b\"\n/.jig", h), true)
	empty, err := DecodeTrust("linux", Trust{}.Encode())
	equalTo(t, "empty store", fmt.Sprint(len(empty.Paths()), err), "0 <nil>")
}

// TestADamagedStoreTrustsNothing, whatever half of it could be read.
func TestADamagedStoreTrustsNothing(t *testing.T) {
	h := Hash("linux", "/p", nil)
	good := string(Trust{}.With("/p", h).Encode())
	for _, text := range []string{
		"x", "[]", "null x", `{"version":1`, good + good, good + "x",
		strings.Replace(good, `"version": 1`, `"version": 2`, 1), strings.Replace(good, `"version": 1`, `"version": 0`, 1), "{}",
		strings.Replace(good, h, "abc", 1), strings.Replace(good, `"/p"`, `"p"`, 1), strings.Replace(good, `"/p"`, `null`, 1),
		strings.Replace(good, `"path"`, `"pathh"`, 1), strings.Replace(good, `"version"`, `"other": 1, "version"`, 1),
		"\xff", "\x00",
	} {
		trust, err := DecodeTrust("linux", []byte(text))
		if err == nil || len(trust.Paths()) != 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: trusts %v, error %v", text, trust.Paths(), err)
		}
	}
}

func FuzzTrustStore(f *testing.F) {
	f.Add([]byte(`{"version":1,"levels":[{"path":"/p","hashes":["` + Hash("linux", "/p", nil) + `"]}]}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		trust, err := DecodeTrust("linux", data)
		if err != nil && len(trust.Paths()) > 0 {
			t.Fatal("a store that cannot be read trusts something")
		}
		again, err := DecodeTrust("linux", trust.Encode())
		if err != nil || string(again.Encode()) != string(trust.Encode()) {
			t.Fatalf("the store does not come back: %v", err)
		}
	})
}
