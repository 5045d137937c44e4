package host

import (
	"testing"

	"jig/internal/proto"
)

func TestGoalIsForgottenOnlyWhereASummaryTookItsPlace(t *testing.T) {
	notice, said := goalNotice("x"), proto.Said{}
	for name, c := range map[string]struct {
		facts []proto.Fact
		want  bool
	}{
		"no goal":                      {[]proto.Fact{said, proto.Compacted{Through: 1}}, false},
		"no summary":                   {[]proto.Fact{proto.Goal{}, notice, said}, false},
		"a summary of what was before": {[]proto.Fact{said, proto.Goal{}, notice, proto.Compacted{Through: 1}}, false},
		"a summary of it":              {[]proto.Fact{proto.Goal{}, notice, said, said, proto.Compacted{Through: 3}}, true},
		"told again since":             {[]proto.Fact{proto.Goal{}, notice, said, proto.Compacted{Through: 3}, notice}, false},
		"changed since":                {[]proto.Fact{proto.Goal{}, notice, said, proto.Compacted{Through: 3}, proto.Goal{}}, false},
		"two summaries, the last less": {[]proto.Fact{proto.Goal{}, notice, proto.Compacted{Through: 2}, said, proto.Compacted{Through: 1}}, true},
		"made by the model, summed up": {[]proto.Fact{proto.Goal{}, said, said, proto.Compacted{Through: 2}}, true},
	} {
		if got := forgotten(c.facts); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
