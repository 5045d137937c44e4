package endpoint

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCountsAreReadHoweverTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Count{
		`10`: {10, true}, `10.0`: {10, true}, `1e1`: {10, true}, `"10"`: {10, true}, `" 10.0"`: {10, true}, `0`: {0, true},
		`null`: {}, `-1`: {}, `1e99`: {}, `"many"`: {}, `""`: {}, `"NaN"`: {}, `true`: {}, `[1]`: {}, `{"n":1}`: {}, `"` + strings.Repeat("1", 1000) + `"`: {},
	} {
		var got struct{ C Count }
		if err := json.Unmarshal([]byte(`{"C":`+text+`}`), &got); err != nil || got.C != want {
			t.Errorf("%s: %v %v", text, got.C, err)
		}
	}
	c := Count{10, true}
	if c.Merge(Count{}); c.N != 10 {
		t.Error("what was not told took the place of what was")
	}
	if c.Merge(Count{0, true}); c.N != 0 {
		t.Error("a later count did not take its place")
	}
}

func TestWhatIsNoObjectIsNothing(t *testing.T) {
	for _, text := range []string{`null`, `[]`, `""`, `7`, `{"n":"x"}`} {
		var got struct{ A Aside[struct{ N int }] }
		if err := json.Unmarshal([]byte(`{"A":`+text+`}`), &got); err != nil || got.A.Value != nil {
			t.Errorf("%s: %v %v", text, got.A.Value, err)
		}
	}
}

func FuzzACountIsNeverLessThanNothing(f *testing.F) {
	for _, s := range []string{"1", `"2.5"`, "1e11", "-0", `"0x10"`, "[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c Count
		if err := c.UnmarshalJSON([]byte(s)); err != nil || c.N < 0 || c.N != 0 && !c.Told {
			t.Errorf("%q: %+v %v", s, c, err)
		}
	})
}
