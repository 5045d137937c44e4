package tape_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"jig/internal/model/tape"
)

func TestWhatChangesFromRunToRunGetsAName(t *testing.T) {
	places := []tape.Place{{Name: "root", Path: "/home/ann/p"}, {Name: "home", Path: "/home/ann/"}, {Name: "temp", Path: "/scratch"}}
	for text, want := range map[string]string{
		"is in /tmp/jig-archive/ab12/1.txt: look at `/tmp/jig-archive-0/ab12/2.txt`":                                      "is in ${archive1}: look at `${archive2}`",
		"Started background job b3 (pid 88). Output: /tmp/jig-jobs/777/b3.log\nrun `tail -n 50 /tmp/jig-jobs/777/b3.log`": "Started background job ${job1} (pid ${pid1}). Output: ${log1}\nrun `tail -n 50 ${log1}`",
		"[background job b1 finished: exit 0 after <1s] make":                                                             "[background job ${job1} finished: exit 0 after ${duration}] make",
		"/home/ann/p/a.go and /home/ann/p2 and /home/ann/p.":                                                              "${root}/a.go and ${home}/p2 and ${root}.",
		"file:///home/ann/p x/home/ann/q /home/annabel":                                                                   "file://${root} x${home}/q /home/annabel",
		"/tmp/a.1/x /tmp/b:/tmp/a.1 '/var/tmp/c d' /scratch/e, /data/tmp/f":                                               "${temp1}/x ${temp2}:${temp1} '${temp3} d' ${temp4}, /data/tmp/f",
		"/private/var/folders/ab/c_1/T/go-build7/b (/private/tmp/z)":                                                      "${temp1}/b (${temp2})",
		"pid 4242, PID=17, process 5; kill: (4242): 17 12.4242":                                                           "pid ${pid1}, PID=${pid2}, process ${pid3}; kill: (${pid1}): 17 12.${pid1}",
		"2026-11-30T19:16:41Z 2026-11-30 19:16 2026-11-30 19:16:41.5 +0200 and 2026-11-30":                                "${time} ${time} ${time} and ${time}",
		"Mon Nov 30 19:16:41 UTC 2026; Nov 30 19:16 f; Nov  3  2025 g; Mon, 30 Nov 2026 19:16:41 GMT":                     "${time}; ${time} f; ${time} g; ${time}",
		"at 09:16:41 and 9:16 and a.go:12:34: x":                                                                          "at ${time} and 9:16 and a.go:12:34: x",
		"ok  \tjig/x\t0.012s, 3ms (1m4.5s) real 0m0.003s 12 seconds 1h":                                                   "ok  \tjig/x\t${duration}, ${duration} (${duration}) real ${duration} ${duration} ${duration}",
		"user config: /home/ann/c.yaml\nproject config: (absent)\nconfig: x":                                              "user config: ${config}\nproject config: ${config}\nconfig: x",
		"[1] 4242\n[2]+  77 Running\na[1] 5 [3] 6":                                                                        "[1] ${pid1}\n[2]+  ${pid2} Running\na[1] 5 [3] 6",
		"1796067991.275173 1796067991275 and 1796067991; 2796067991 17960679":                                             "${time} ${time} and ${time}; 2796067991 17960679",
		"v1.5s x5s 10 s 5 more line 12 8080 0x1234":                                                                       "v1.5s x5s 10 s 5 more line 12 8080 0x1234",
	} {
		v := tape.NewValues(places, nil)
		if got := v.Take(text); got != want {
			t.Errorf("%s:\n  got  %s\n  want %s", text, got, want)
		} else if again := v.Take(text); again != got {
			t.Errorf("the second time: %s", again)
		}
	}
}

func TestTwoRunsOfOneConversationAreWrittenAlike(t *testing.T) {
	a := tape.NewValues([]tape.Place{{Name: "root", Path: "/a/p"}, {Name: "temp", Path: "/a/t"}}, nil)
	b := tape.NewValues([]tape.Place{{Name: "root", Path: "/b/long/q"}, {Name: "temp", Path: "/b/tmp"}}, nil)
	for _, pair := range [][2]string{
		{"in /a/p pid 10 and pid 11", "in /b/long/q pid 3000 and pid 12"},
		{"pid 11 ended after 3s, see /a/t/x/1 and /a/t/y", "pid 12 ended after 1m2s, see /b/tmp/k/1 and /b/tmp/j"},
		{"/a/t/y 19:00:00", "/b/tmp/j 07:12:59"},
	} {
		if x, y := a.Take(pair[0]), b.Take(pair[1]); x != y {
			t.Errorf("%q and %q", x, y)
		}
	}
	if x, y := a.Take("pid 10"), b.Take("pid 12"); x == y {
		t.Errorf("another process has the same name: %s", x)
	}
}

// Another date, duration or number in what a person typed is another task.
func TestWhatAPersonTypedStandsAsItWasTyped(t *testing.T) {
	for text, want := range map[string]string{
		"timeout to 30s at 2024-05-01 12:00:00, 12 seconds": "timeout to 30s at 2024-05-01 12:00:00, 12 seconds",
		"delete /tmp/a and kill process 12, pid 4242":       "delete /tmp/a and kill process 12, pid 4242",
		"background job b3, /x/jig-jobs/777/b3.log":         "background job b3, /x/jig-jobs/777/b3.log",
		"/home/ann/p/a.go /home/ann/p2 /home/ann/p.":        "${root}/a.go ${home}/p2 ${root}.",
		"/scratch/e /scratch. /data/scratch/f /scratchy":    "${temp}/e ${temp}. /data/scratch/f /scratchy",
		"/scratch/home/x ~/scratch and sk-99887766":         "${temp}/home/x ~/scratch and ${key}",
	} {
		v := tape.NewValues([]tape.Place{{Name: "root", Path: "/home/ann/p"}, {Name: "home", Path: "/home/ann"}, {Name: "temp", Path: "/scratch/"}}, []string{"sk-99887766"})
		talk := tape.NewTalk(v)
		if got := *talk.Ask(sent(text), false).Messages[0].Blocks[0].Text; string(got) != want {
			t.Errorf("%s:\n  got  %s\n  want %s", text, got, want)
		}
		talk.Notice(text)
		if got, noticed := *talk.Ask(sent(text), false).Messages[0].Blocks[0].Text, v.Take(text); string(got) != noticed {
			t.Errorf("as a job's report: %s, want %s", got, noticed)
		}
	}
}

// Nothing is compiled for a start that neither records nor plays.
func TestAStartPaysNothingForRecordings(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "init os @") {
		t.Fatalf("no trace: %s", out)
	}
	for line := range strings.Lines(string(out)) {
		var bytes int
		if f := strings.Fields(line); len(f) > 8 && f[1] == "jig/internal/model/tape" {
			if bytes, err = strconv.Atoi(f[7]); err != nil || bytes > 16<<10 {
				t.Errorf("%s", line)
			}
		}
	}
}
