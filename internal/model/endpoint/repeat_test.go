package endpoint

import "testing"

func TestArgumentsAreTheSameHoweverTheyAreWritten(t *testing.T) {
	for _, same := range [][]string{
		{`{"a":1,"b":"x y"}`, ` {"a": 1, "b": "x y"}` + "\n", `"{\"a\":1, \"b\":\"x y\"}"`},
		{"", " ", "{}", "{ }", `""`},
		{`{"a`, `{"a`},
	} {
		for _, a := range same {
			if MarkArgs(a) != MarkArgs(same[0]) {
				t.Errorf("%q is not the same as %q", a, same[0])
			}
		}
	}
	for a, b := range map[string]string{`{"a":1}`: `{"a":2}`, `{"a":"x y"}`: `{"a":"xy"}`, `{"a":1,"b":2}`: `{"b":2,"a":1}`, `{"a`: `{"a"`, "{}": "null"} {
		if MarkArgs(a) == MarkArgs(b) {
			t.Errorf("%q is the same as %q", a, b)
		}
	}
	if MarkOf("a", "bc") == MarkOf("ab", "c") || MarkOf("", "a") == MarkOf("a", "") {
		t.Error("texts run together")
	}
}

func TestOnlyCallsOfOneIDAreTheSame(t *testing.T) {
	type call struct{ id, name, args string }
	var c Calls
	list := []call{{"1", "f", ""}, {"1", "f", `{"a":1}`}, {"2", "f", `{"a":1}`}, {"1", "g", `{"a":1}`}, {"", "f", "{}"}, {"", "f", "{}"}, {"1", "f", `{"a": 1}`}, {"3", "f", ""}, {"3", "f", "{}"}}
	for _, x := range list {
		c.Full(x.id, x.name, x.args)
	}
	want := []bool{true, false, false, false, false, false, true, true, false}
	for i, x := range list {
		if got := c.Again(x.id, x.name, x.args); got != want[i] {
			t.Errorf("%d, %v: %v", i, x, got)
		}
	}
}
