package sandbox

import (
	"strings"
	"testing"
)

func TestTheManualsTablesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Dangers() {
		if seen[d.ID] || d.ID == "" || d.What == "" {
			t.Errorf("row %q stands twice or is empty", d.ID)
		}
		seen[d.ID] = true
		for _, tier := range []Tier{Bwrap, Namespaces, Landlock} {
			if v := d.In(tier); v != Stopped && v != Open {
				t.Errorf("%s says nothing of %s", d.ID, tier)
			}
		}
		if d.In(None) != Open {
			t.Errorf("%s: stopped without a sandbox", d.ID)
		}
		if d.Bwrap != d.Landlock && d.Note == "" && d.ID != "processes" && d.ID != "shared-memory" && d.ID != "priority" {
			t.Errorf("%s differs between the tiers and does not say why", d.ID)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(Markdown()), "\n") {
		if line != "" && strings.Count(line, "|") != 7 && strings.Count(line, "|") != 6 {
			t.Errorf("not a row: %s", line)
		}
	}
}
