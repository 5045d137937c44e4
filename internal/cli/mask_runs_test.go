package cli

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

const (
	aKey   = "sk-verysecretkey-0123456789abcdef"
	aMask  = "[key kept by jig: provider a]"
	public = "sk-ant-api03-"
)

func runsOf(keys ...string) *keyRuns {
	var all [][2]string
	for _, k := range keys {
		all = append(all, [2]string{k, aMask})
	}
	return newKeyRuns(all)
}

func TestWhatTruncationLeavesOfAKeyIsTakenOut(t *testing.T) {
	r := runsOf(aKey)
	for given, want := range map[string]string{
		aKey:                                        aMask,
		"x" + aKey + aKey + "y":                     "x" + aMask + aMask + "y",
		"a.txt:1:" + aKey[:28] + "…":                "a.txt:1:" + aMask + "…",
		"[shell echo " + aKey[:14] + "…]":           "[shell echo " + aMask + "…]",
		aKey[:25] + "\n[... 9 bytes omitted ...]\n": aMask + "\n[... 9 bytes omitted ...]\n",
		"\n" + aKey[12:] + " end":                   "\n" + aMask + " end",
		"…" + aKey[5:25] + "…":                      "…" + aMask + "…",
		aKey[:12]:                                   aMask,
		"key=" + aKey[:20] + "\"":                   "key=" + aMask + "\"",
		aKey[:11] + "…":                             aKey[:11] + "…",     // that little of it helps nobody
		aKey[:20] + "OTHER":                         aKey[:20] + "OTHER", // another name that begins so
	} {
		if got := r.mask(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}

func TestKeyThatWasEncodedIsTakenOut(t *testing.T) {
	odd := `p"s<&/é-0123456789+secret%`
	r := runsOf(aKey, odd)
	for _, k := range []string{aKey, odd} {
		for _, given := range []string{
			base64.StdEncoding.EncodeToString([]byte(k)), base64.URLEncoding.EncodeToString([]byte(k)),
			url.QueryEscape(k), url.PathEscape(k), strings.ReplaceAll(k, `"`, `\"`),
			base64.StdEncoding.EncodeToString([]byte("u:" + k + "\n")), base64.StdEncoding.EncodeToString([]byte("me:" + k)), base64.StdEncoding.EncodeToString([]byte("you:" + k)),
		} {
			got := r.mask("<" + given + ">")
			if !strings.Contains(got, aMask) || len(got) > len(aMask)+12 {
				t.Errorf("%q became %q", given, got)
			}
		}
	}
}

func TestPublicBeginningOfAKeyIsNoKey(t *testing.T) {
	r := runsOf(public + "Zx9Kq2Lm4Np6Rs8Tv0Wy1Ab3Cd5Ef7Gh")
	for _, given := range []string{"keys begin with " + public + ", such as " + public + "…", public + "Zx9…", "sk-ant-api03-XXXXXXXXXXXX"} {
		if got := r.mask(given); got != given {
			t.Errorf("%q became %q", given, got)
		}
	}
	if got := r.mask(public + "Zx9Kq2L…"); got != aMask+"…" {
		t.Error(got)
	}
}

func TestPartsOfNamesAndMadeUpKeysAreNotTakenOut(t *testing.T) {
	r := runsOf("dummy-key-for-testing", "https://example.org/team7/hook", "lm-studio", "My Application Name 7 words long")
	for _, given := range []string{"a dummy-key-for everything", "see https://example.org/team7", "My Application Name 7"} {
		if got := r.mask(given); got != given {
			t.Errorf("%q became %q", given, got)
		}
	}
	for _, given := range []string{"dummy-key-for-testing", "https://example.org/team7/hook", "lm-studio"} {
		if got := r.mask("x " + given + "."); got != "x "+aMask+"." {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// Wherever a key stands and wherever the text is cut, no more than a few bytes of it are left.
func TestNoPlaceHidesAKey(t *testing.T) {
	r := runsOf(aKey, "Zx9Kq2Lm4Np6Rs8Tv0Wy1Ab3Cd5Ef7Gh", strings.Repeat("0123456789abcdefghij", 100))
	for _, f := range r.forms {
		for shift := range stride * 2 {
			for cut := leastRun; cut <= min(len(f.text), 60); cut++ {
				for _, part := range []string{f.text[:cut], f.text[len(f.text)-cut:]} {
					given := strings.Repeat(".", shift) + part + "…"
					if got := r.mask(given); len(got) > shift+len(aMask)+len("…")+leastSecret {
						t.Fatalf("%q became %q", given, got)
					}
				}
			}
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("x", aKey[:20], "y")
	f.Add("", strings.Repeat("a", 40), "…")
	f.Fuzz(func(t *testing.T, before, key, after string) {
		r := runsOf(aKey, key)
		if got := r.mask(before + aKey + after); strings.Contains(got, aKey) {
			t.Errorf("%q with the keys %q", got, key)
		}
		if plain := "an ordinary text"; len(key) > len(plain) && r.mask(plain) != plain {
			t.Errorf("%q was changed for %q", plain, key)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	var keys []string
	for range 6 {
		k := make([]byte, 95)
		for i := range k {
			k[i] = letters[rand.IntN(len(letters))]
		}
		keys = append(keys, public+string(k))
	}
	r := runsOf(keys...)
	words := strings.Repeat("func (s *State) closed(f proto.Closed) { at, ok := s.open[f.Call]; return }\n", 4000)
	for name, n := range map[string]int{"4KiB": 4 << 10, "256KiB": 256 << 10} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				r.mask(words[:n])
			}
		})
	}
	b.Run("made", func(b *testing.B) {
		for b.Loop() {
			runsOf(keys...)
		}
	})
}
