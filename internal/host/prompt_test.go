package host_test

import (
	"strings"
	"testing"

	"jig/internal/host"
)

func TestThePromptSaysWhichProgramRuns(t *testing.T) {
	for binary, want := range map[string]string{"/opt/jig": "\njig binary: /opt/jig\n", "": "\njig binary: (unknown)\n"} {
		if got := host.Prompt(true, host.Surroundings{Root: "/p", Binary: binary}, ""); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
