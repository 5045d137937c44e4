package export_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"jig/internal/export"
	"jig/internal/money"
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

var about = export.About{ID: "abcdefghjkmn", Title: "mend it", Agent: "coder", Provider: "p", Model: "m", Root: "/r",
	Created: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}

func began() proto.Began { return proto.Began{Agent: "coder", Provider: "p", Model: "m", Root: "/r"} }

func says(text string) proto.Said { return proto.Said{Message: msg.Say(msg.User, text)} }

func answers(text string, calls ...string) proto.Said {
	m := msg.Message{Role: msg.Assistant, Provider: "p", Model: "m", Blocks: msg.Blocks{msg.Text{Text: text}}}
	for _, c := range calls {
		m.Blocks = append(m.Blocks, msg.Call{ID: c, Name: "edit_file", Args: `{"path":"x"}`})
	}
	return proto.Said{Message: m, Round: 1, Usage: &msg.Usage{Input: 1200, Output: 30}}
}

func closes(call, text string) proto.Closed { return proto.Closed{Call: call, Result: tool.Text(text)} }

func numbered(facts []proto.Fact) []proto.Event {
	var out []proto.Event
	for i, f := range facts {
		out = append(out, proto.Event{Seq: uint64(i) + 1, Fact: f})
	}
	return out
}

func page(t *testing.T, a export.About, facts ...proto.Fact) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.HTML(&b, a, numbered(facts)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t *testing.T, facts ...proto.Fact) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.Markdown(&b, about, numbered(facts)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile is what a page must show and never do.
var hostile = []string{
	`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `</pre></details></main><script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'><b onmouseover='alert(1)`, `<a href="javascript:alert(1)">x</a>`,
	`[x](javascript:alert(1))`, `[x](https://e.org/"onclick="alert(1))`, `https://e.org/"><script>alert(1)</script>`,
	"```\n</pre><script>alert(1)</script>", "`</code><script>alert(1)</script>`", `**</strong><script>alert(1)</script>**`,
	`</title><script>alert(1)</script>`, `<!--`, `<![CDATA[`, `<meta http-equiv=refresh content="0;url=https://e.org">`, `<style>*{display:none}</style>`,
	"<scr\x00ipt>alert(1)</script>", "\xff\xfe<script>", "# </h4><script>", "|</pre><script>|",
}

// everywhere puts a text in every place where one from outside can stand.
func everywhere(x string) (export.About, []proto.Fact) {
	card := &tool.Card{Kind: tool.CardDiff, Title: x, Text: "@@ " + x + "\n+" + x + "\n-" + x + "\n " + x, Added: 1, Removed: 1}
	m := msg.Message{Role: msg.Assistant, Provider: x, Model: x, Blocks: msg.Blocks{msg.Reasoning{Text: x}, msg.Text{Text: x}, msg.Call{ID: "c1", Name: x, Args: x}, msg.Call{ID: "c2", Name: x, Args: `{"a":"b"}`}}}
	a := export.About{ID: x, Title: x, Agent: x, Provider: x, Model: x, Root: x, Created: about.Created}
	return a, []proto.Fact{
		proto.Began{Agent: x, Provider: x, Model: x, Root: x}, says(x), proto.Said{Message: m}, proto.Opened{Call: "c1", Plan: tool.Plan{Title: x}},
		proto.Closed{Call: "c1", Result: tool.Result{Blocks: msg.Blocks{msg.Text{Text: x}, msg.Image{MIME: x, Data: []byte(x)}, msg.Image{MIME: "image/svg+xml", Data: []byte(x)}}, Card: card}},
		proto.Closed{Call: "c2", Result: tool.Text(x + strings.Repeat("\n"+x, 40))},
		proto.Said{Message: msg.Say(msg.User, x), Notice: "c1"}, proto.Compacted{Through: 2, Summary: msg.Say(msg.User, x)},
		proto.Goal{Objective: x, Status: proto.GoalBlocked, Why: x}, proto.Titled{Title: x}, proto.Forked{From: x},
		proto.Began{Agent: x + "2", Provider: x, Model: x, Root: x + "2"}, proto.Ended{Why: proto.Failed, Error: x}, proto.Ended{Why: proto.Done, Note: x},
	}
}

var (
	tag     = regexp.MustCompile(`<[^>]*>`)
	allowed = regexp.MustCompile(`^<(/?(html|head|title|style|body|header|main|section|h[1-4]|dl|div|dt|dd|p|pre|code|strong|details|summary|small|span|b|i|ins|del)|html lang="en"|!DOCTYPE html|meta [a-zA-Z="'\-0-9 /+;:,.]*|(section|p|pre|div|details|b) class="[a-z ]*"|a rel="noopener noreferrer nofollow" href="https?://[^"<>]*"|/a|img alt="" src="data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")>$`)
)

func onlyOurs(t *testing.T, given, page string) {
	t.Helper()
	_, body, _ := strings.Cut(page, "</style>")
	for _, x := range tag.FindAllString(body, -1) {
		if !allowed.MatchString(x) {
			t.Errorf("%q: a stranger's markup: %s", given, x)
		}
	}
}

func TestNoTextOfASessionBecomesMarkup(t *testing.T) {
	for _, x := range hostile {
		a, facts := everywhere(x)
		p := page(t, a, facts...)
		onlyOurs(t, x, p)
		if strings.Contains(p, "javascript:alert(1)\"") {
			t.Errorf("%q: a link runs", x)
		}
	}
}

func TestNothingInMarkdownIsHTMLOrRuns(t *testing.T) {
	for _, x := range hostile {
		a, facts := everywhere(x)
		var b bytes.Buffer
		if err := export.Markdown(&b, a, numbered(facts)); err != nil {
			t.Fatal(err)
		}
		code := ""
		for l := range strings.SplitSeq(b.String(), "\n") {
			if f := regexp.MustCompile("^(?:> )?(`{3,})").FindStringSubmatch(l); f != nil && !strings.HasPrefix(l, ">") {
				if code == "" {
					code = f[1]
				} else if f[1] == code {
					code = ""
				}
				continue
			}
			l = regexp.MustCompile("`[^`]*`").ReplaceAllString(l, "")
			if code == "" && regexp.MustCompile(`<[A-Za-z/!]|[^\\]\]\(javascript:`).MatchString(l) {
				t.Errorf("%q: %s", x, l)
			}
		}
		if code != "" {
			t.Errorf("%q: a block of code goes on to the end", x)
		}
	}
}

func TestPolicyAllowsTheStyleAndNothingElse(t *testing.T) {
	p := page(t, about, began())
	for _, want := range []string{`default-src 'none'`, `style-src 'sha256-`, `img-src data:`, `base-uri 'none'`, `form-action 'none'`} {
		if !strings.Contains(p, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if strings.Contains(p, "script-src") || strings.Contains(p, "unsafe") {
		t.Error("the policy lets something run")
	}
}

func TestWhatWasTakenBackIsLeftOut(t *testing.T) {
	facts := []proto.Fact{began(), says("first"), answers("one"), says("WRONG"), answers("WORSE", "c1"), closes("c1", "BAD"), proto.Rewound{Before: 4}, says("second"), answers("two")}
	for name, s := range map[string]string{"html": page(t, about, facts...), "md": markdown(t, facts...)} {
		for _, gone := range []string{"WRONG", "WORSE", "BAD"} {
			if strings.Contains(s, gone) {
				t.Errorf("%s has %s", name, gone)
			}
		}
		if !ordered(s, "first", "one", "second", "two") {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func ordered(s string, all ...string) bool {
	for _, x := range all {
		_, after, ok := strings.Cut(s, x)
		if !ok {
			return false
		}
		s = after
	}
	return true
}

func TestWhatWasSummedUpIsThereWholeBeforeTheMark(t *testing.T) {
	facts := []proto.Fact{began(), says("q-old"), answers("a-old"), says("q-kept"), answers("a-kept"),
		proto.Compacted{Through: 3, Summary: msg.Say(msg.User, "in-short")}, says("q-new")}
	for name, s := range map[string]string{"html": page(t, about, facts...), "md": markdown(t, facts...)} {
		if !ordered(s, "q-old", "a-old", "summary of everything above", "in-short", "q-kept", "a-kept", "q-new") {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func TestLongResultsAreFoldedAndShortOnesAreNot(t *testing.T) {
	long := strings.Repeat("row\n", 200)
	p := page(t, about, began(), says("q"), answers("a", "c1", "c2"), closes("c1", long), closes("c2", "short one"))
	if !strings.Contains(p, "<details><summary>Result <small>200 lines, 800 bytes</small></summary>") {
		t.Error("a long result is not folded")
	}
	if !strings.Contains(p, "</details>\n<pre class=\"result\">\nshort one</pre>") {
		t.Error("a short result is folded")
	}
	if strings.Count(p, "row") < 200 {
		t.Error("a folded result is not whole")
	}
}

func TestTextReadsInTheBrowserAsItWasWritten(t *testing.T) {
	text := "\n  a < b && \"c\" > 'd'\n\n\tend"
	p := page(t, about, began(), says("q"), answers("a", "c1"), closes("c1", text))
	_, after, _ := strings.Cut(p, `<pre class="result">`+"\n") // a browser drops the first newline
	got, _, _ := strings.Cut(after, "</pre>")
	if html.UnescapeString(got) != text {
		t.Errorf("%q", got)
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	p := page(t, about, began(), says("a\u202eb\x1b[31mc\x00"))
	if strings.ContainsAny(p, "\u202e\x1b\x00") || !strings.Contains(p, "␛[31mc␀") {
		t.Error("characters that steer a reader are in the page")
	}
}

func TestHeadHasWhatWasSpent(t *testing.T) {
	cost := proto.Cost{Turn: 1, Session: money.Dollar / 4, Estimated: true}
	p := page(t, about, began(), says("q"), answers("a"), answers("b"), cost)
	if !strings.Contains(p, "<dd>~$0.25</dd>") || !strings.Contains(p, "<dd>2,400 in, 60 out</dd>") {
		t.Error(p)
	}
}
