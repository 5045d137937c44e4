package modeltest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"jig/internal/model"
	"jig/internal/model/modeltest"
	"jig/internal/msg"
)

// round is one exchange of a long turn: how many calls the model makes at once, and how many texts
// come with their results.
type round struct{ calls, texts int }

// work lets a model go through a long turn whose results are of a size that tools' results have. It
// returns what it was told of each request.
func work(t *testing.T, m model.Model, s *modeltest.Server, name string, rounds []round) []msg.Usage {
	t.Helper()
	r := model.Request{Model: name, System: strings.Repeat("Be brief, and look before you write. ", 500), Tools: []model.Tool{tool("read_file"), tool("grep")}}
	r.Messages = []msg.Message{msg.Say(msg.User, "begin"), msg.Say(msg.User, "a notice")}
	var told []msg.Usage
	for i, x := range rounds {
		reply := modeltest.Reply{Reasoning: fmt.Sprint("step ", i), Text: "I look.", Usage: msg.Usage{Output: 50}, Bytes: 1 << 16}
		for n := range x.calls {
			reply.Calls = append(reply.Calls, modeltest.Call{ID: fmt.Sprintf("given%03d%02d", i, n), Name: "read_file", Args: fmt.Sprintf(`{"path":"file %d of %d"}`, n, i)})
		}
		s.Add(reply)
		got, err := m.Stream(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("round %d: %v", i+1, err)
		}
		told = append(told, got.Usage)
		said := msg.Message{Role: msg.Assistant, Provider: "p", Model: name}
		heard := msg.Message{Role: msg.User}
		for n, b := range got.Blocks {
			if c, ok := b.(msg.Call); ok {
				c.ID = fmt.Sprintf("call%03d%02d", i, n)
				b = c
				heard.Blocks = append(heard.Blocks, msg.Result{Call: c.ID, Blocks: msg.Blocks{msg.Text{Text: strings.Repeat(fmt.Sprintf("line %d of %s\n", i, c.ID), 1+80/x.calls)}}, Failed: n == 3})
			}
			said.Blocks = append(said.Blocks, b)
		}
		for n := range x.texts {
			heard.Blocks = append(heard.Blocks, msg.Text{Text: fmt.Sprintf("word %d in round %d", n, i)})
		}
		r.Messages = append(r.Messages, said, heard)
	}
	return told
}

// share is the part of all input bytes that was read from the cache.
func share(uses []modeltest.CacheUse) float64 {
	read, input := 0, 0
	for _, u := range uses {
		read, input = read+u.Read, input+u.Input
	}
	return float64(read) / float64(input)
}

func fifty(calls, texts int) []round {
	var out []round
	for range 50 {
		out = append(out, round{calls, texts})
	}
	return out
}

func TestEachRoundReadsWhatTheLastOneWrote(t *testing.T) {
	uneven := fifty(1, 0)
	for i := range uneven {
		uneven[i].calls, uneven[i].texts = 1+i*7%40, i*11%45
	}
	for name, rounds := range map[string][]round{
		"one call": fifty(1, 0), "thirty calls": fifty(30, 0), "a call and thirty texts": fifty(1, 30), "uneven": uneven,
	} {
		// The model that needs the longest prompt, and the one that needs the shortest at a service that
		// counts each block.
		id, each := "claude-haiku-4-5", false
		if name == "thirty calls" || name == "uneven" {
			id, each = "claude-opus-5", true
		}
		s := modeltest.New(t)
		s.Cache = &modeltest.Cache{EachBlock: each}
		told := work(t, clientOf(t, modeltest.Messages).make(t, s), s, id, rounds)
		uses := s.CacheUses()
		for i, u := range uses {
			if i > 0 && u.Read != uses[i-1].Input {
				t.Errorf("%s: request %d read %d of the %d bytes of the one before", name, i+1, u.Read, uses[i-1].Input)
			}
			if u.Read+u.Written != u.Input {
				t.Errorf("%s: request %d left bytes out: %+v", name, i+1, u)
			}
			if d := near(told[i], msg.Usage{Input: u.Input / 4, Output: 50, CacheRead: u.Read / 4, CacheWrite: u.Written / 4}); d != "" {
				t.Errorf("%s: request %d: %s", name, i+1, d)
			}
		}
		n := share(uses)
		t.Logf("%s: %.1f %%", name, 100*n)
		if n < 0.9 || len(uses) != len(rounds) {
			t.Errorf("%s: %.1f %% of the input was read from the cache in %d rounds", name, 100*n, len(uses))
		}
	}
}

// near says what is wrong with a usage; the server rounds each of its figures.
func near(got, want msg.Usage) string {
	for _, x := range [][2]int{{got.Input, want.Input}, {got.Output, want.Output}, {got.CacheRead, want.CacheRead}, {got.CacheWrite, want.CacheWrite}} {
		if d := x[0] - x[1]; d < -2 || d > 2 {
			return fmt.Sprintf("told %+v, want %+v", got, want)
		}
	}
	return ""
}

func TestAnAutomaticCacheFindsEachRoundsBeginning(t *testing.T) {
	for _, cl := range clients() {
		if cl.wire == modeltest.Messages {
			continue // it has marks
		}
		for name, rounds := range map[string][]round{"one call": fifty(1, 0), "thirty calls": fifty(30, 3)} {
			s := modeltest.New(t)
			s.Cache = &modeltest.Cache{}
			told := work(t, cl.make(t, s), s, cl.model, rounds)
			uses := s.CacheUses()
			for i, u := range uses {
				if i > 0 && u.Read < uses[i-1].Input-512 {
					t.Errorf("%s, %s: request %d read %d of the %d bytes of the one before", cl.name, name, i+1, u.Read, uses[i-1].Input)
				}
				if told[i].CacheRead != u.Read/4 || told[i].Input != u.Input/4 {
					t.Errorf("%s, %s: request %d: told %+v of %+v", cl.name, name, i+1, told[i], u)
				}
			}
			n := share(uses)
			t.Logf("%s, %s: %.1f %%", cl.name, name, 100*n)
			if n < 0.9 || len(uses) != len(rounds) {
				t.Errorf("%s, %s: %.1f %% of the input was read from the cache in %d rounds", cl.name, name, 100*n, len(uses))
			}
		}
	}
}

func clientOf(t *testing.T, d modeltest.Dialect) client {
	for _, c := range clients() {
		if c.wire == d {
			return c
		}
	}
	t.Fatal("no client of ", d)
	return client{}
}

func TestARequestThatCameToNothingLosesNothing(t *testing.T) {
	s := modeltest.New(t)
	s.Cache = &modeltest.Cache{}
	m := clientOf(t, modeltest.Messages).make(t, s)
	r := model.Request{Model: "claude-opus-5", System: strings.Repeat("Be brief. ", 1000)}
	say := func(u, a string) { r.Messages = append(r.Messages, msg.Say(msg.User, u), msg.Say(msg.Assistant, a)) }
	say("one", "yes")
	say("two", "yes")
	for i, fault := range []modeltest.Fault{{}, {Kind: modeltest.FaultStatus, Status: 529}, {}} {
		r.Messages = append(r.Messages, msg.Say(msg.User, fmt.Sprint("go ", i)))
		s.Add(modeltest.Reply{Text: "ok", Fault: fault})
		_, err := m.Stream(context.Background(), r, nil)
		if (err != nil) != (fault.Kind != "") {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, msg.Say(msg.Assistant, "cut off"))
	}
	if u := s.CacheUses(); len(u) != 2 || u[1].Read != u[0].Input {
		t.Errorf("%+v", u)
	}
}

// prompt is a request of the messages dialect: a system prompt of so many tokens and texts, of which
// those with a * in front are marked.
func prompt(id string, tokens int, texts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"max_tokens":9,"system":[{"type":"text","text":%q}],"messages":[{"role":"user","content":[`, id, strings.Repeat("word", tokens))
	for i, s := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		text, marked := strings.CutPrefix(s, "*")
		fmt.Fprintf(&b, `{"type":"text","text":%q`, text)
		if marked {
			b.WriteString(`,"cache_control":{"type":"ephemeral"}`)
		}
		b.WriteByte('}')
	}
	return b.String() + `]}]}`
}

func texts(n int, last ...string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("text ", i))
	}
	return append(out, last...)
}

func TestTheCacheKeepsToTheVendorsRules(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const sonnet = "claude-sonnet-4-5"
	long := prompt(sonnet, 2000, "*a")
	hour := strings.Replace(long, `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`, 1)
	for name, c := range map[string]struct {
		first, second string
		wait          time.Duration
		written, read bool
	}{
		"the same again":           {long, long, 0, true, true},
		"longer":                   {long, prompt(sonnet, 2000, "*a", "*b"), 0, true, true},
		"the mark has moved on":    {long, prompt(sonnet, 2000, "a", "*b"), 0, true, true},
		"no mark at first":         {prompt(sonnet, 2000, "a"), long, 0, false, false},
		"no mark afterwards":       {long, prompt(sonnet, 2000, "a", "b"), 0, true, false},
		"one letter differs":       {long, prompt(sonnet, 2000, "*A", "*b"), 0, true, false},
		"another model":            {long, prompt("claude-sonnet-4-6", 2000, "*a"), 0, true, false},
		"too short":                {prompt(sonnet, 900, "*a"), prompt(sonnet, 900, "*a"), 0, false, false},
		"too short for this model": {prompt("claude-haiku-4-5", 4000, "*a"), prompt("claude-haiku-4-5", 4000, "*a"), 0, false, false},
		"enough for this model":    {prompt("claude-opus-5", 600, "*a"), prompt("claude-opus-5", 600, "*a"), 0, true, true},
		"20 steps on":              {prompt(sonnet, 2000, texts(5, "*a")...), prompt(sonnet, 2000, append(texts(5, "a"), texts(18, "*z")...)...), 0, true, true},
		"21 steps on":              {prompt(sonnet, 2000, texts(5, "*a")...), prompt(sonnet, 2000, append(texts(5, "a"), texts(19, "*z")...)...), 0, true, false},
		"far on, but marked":       {prompt(sonnet, 2000, texts(5, "*a")...), prompt(sonnet, 2000, append(texts(5, "*a"), texts(50, "*z")...)...), 0, true, true},
		"4 minutes later":          {long, long, 4 * time.Minute, true, true},
		"6 minutes later":          {long, long, 6 * time.Minute, true, false},
		"an hour's, 50 later":      {hour, hour, 50 * time.Minute, true, true},
		"an hour's, 70 later":      {hour, hour, 70 * time.Minute, true, false},
		"other thinking":           {long, strings.Replace(long, `"max_tokens":9`, `"max_tokens":9,"output_config":{"effort":"low"}`, 1), 0, true, false},
		"the API's own mark":       {strings.Replace(prompt("claude-opus-5", 2000, "a"), `"max_tokens":9`, `"max_tokens":9,"cache_control":{"type":"ephemeral"}`, 1), prompt("claude-opus-5", 2000, "a", "*b"), 0, true, true},
	} {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"}, modeltest.Reply{Text: "ok"})
		at := now
		s.Cache = &modeltest.Cache{Now: func() time.Time { return at }}
		if name == "other thinking" {
			c.first, c.second = strings.ReplaceAll(c.first, sonnet, "claude-opus-5"), strings.ReplaceAll(c.second, sonnet, "claude-opus-5")
		}
		for _, body := range []string{c.first, c.second} {
			if status, said := post(t, s, modeltest.Messages, body); status != http.StatusOK {
				t.Fatalf("%s: %s", name, said)
			}
			at = at.Add(c.wait)
		}
		u := s.CacheUses()
		if (u[0].Written > 0) != c.written || u[0].Read != 0 || (u[1].Read > 0) != c.read {
			t.Errorf("%s: %+v", name, u)
		}
		if c.read && u[1].Read != u[0].Written {
			t.Errorf("%s: wrote %d, read %d", name, u[0].Written, u[1].Read)
		}
	}
}

func TestARunOfCallsIsOneStepOfTheLookBack(t *testing.T) {
	const tools = `"tools":[{"name":"f","input_schema":{"type":"object"}}],`
	body := func(marks bool, calls int) string {
		use, result := make([]string, calls), make([]string, calls)
		for i := range calls {
			use[i] = fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"f","input":{}}`, i)
			result[i] = fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t%d"}`, i)
		}
		s := prompt("claude-opus-5", 2000, "*a")
		s = strings.Replace(s, `"messages"`, tools+`"messages"`, 1)
		if marks {
			return s
		}
		s = strings.Replace(s, `,"cache_control":{"type":"ephemeral"}`, "", 1)
		result[calls-1] = strings.TrimSuffix(result[calls-1], "}") + `,"cache_control":{"type":"ephemeral"}}`
		return strings.TrimSuffix(s, "]}") + `,{"role":"assistant","content":[` + strings.Join(use, ",") + `]},{"role":"user","content":[` + strings.Join(result, ",") + `]}]}`
	}
	for _, each := range []bool{false, true} {
		s := modeltest.New(t, modeltest.Reply{Text: "ok"}, modeltest.Reply{Text: "ok"})
		s.Cache = &modeltest.Cache{EachBlock: each}
		for _, marks := range []bool{true, false} {
			if status, said := post(t, s, modeltest.Messages, body(marks, 15)); status != http.StatusOK {
				t.Fatal(said)
			}
		}
		if u := s.CacheUses(); (u[1].Read > 0) == each {
			t.Errorf("each %v: %+v", each, u)
		}
	}
}
