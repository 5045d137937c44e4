package tape

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Place is a folder that is another one where a recording is played. Its name is root, home or temp.
type Place struct{ Name, Path string }

// rule says what is written in the place of something that changes from run to run. What is
// numbered gets a name of its own for each value, in the order in which they turn up.
type rule struct {
	name     string
	what     string // for the manual
	numbered bool
	find     func() *regexp.Regexp // its last group is the value; nil where the run says it
}

const temporary = `(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/\s]+/[^/\s]+/T)`

// pathPart is a name in a path, as far as it can be told from the text around it.
const pathPart = "[^/\\\\\\s\"'`:;,)(\\]\\[}{><|*]+"

// compiled is a pattern that is compiled when it is first used: most starts neither record nor play.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// archive is the rule for what stands in a summary, which counts as the user's words.
const archive = "archive"

// rules are all of them, in the order in which they are looked for.
var rules = []rule{
	{"key", "a key or another secret that jig knows; it is never written", false, nil},
	{"log", "the log file of a background job", true,
		compiled("([^\\s\"'`]*[/\\\\]jig-jobs[^/\\\\\\s]*[/\\\\][\\d-]+[/\\\\]b\\d+\\.log)")},
	{archive, "the file with the text of what was summed up", true,
		compiled("([^\\s\"'`]*[/\\\\]jig-archive[^/\\\\\\s]*[/\\\\][\\w-]+[/\\\\]\\d+\\.txt)")},
	// A recording is played with another configuration, since the provider is another one.
	{"config", "where the system prompt says that the user's and the project's configuration are", false, compiled(`(?m)^(?:user|project) config: (.*)$`)},
	{"root", "the project's folder", false, nil},
	{"home", "the home folder", false, nil},
	{"temp", "what lies directly in a temporary folder", true, nil},
	{"job", "the id of a background job, where jig says it", true, compiled(`\bbackground job (b\d+)\b`)},
	{"pid", "a number after pid, ppid or process, or after [1] as a shell says it; afterwards the same number wherever it has four digits or more", true,
		compiled(`(?:(?i:\b(?:p?pid|process)[ =:#]{1,2})|(?m:^)\[\d+\][+-]? +)(\d+)\b`)},
	{"time", "a date, a time of day with seconds, or both; dates as ls writes them; seconds or milliseconds since 1970", false, compiled(times)},
	{"duration", "a number with a unit of time after it: 3ms, 1m4.5s, <1s, 12 seconds", false, compiled(durations)},
}

const (
	months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`
	clock  = `(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?: [AP]M)?`
	times  = `\b(\d{4}-\d\d-\d\d(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d|UTC))?)?` +
		`|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:` + months + ` {1,2}\d{1,2}|\d{1,2} ` + months + `)(?: \d{4})? {1,2}(?:` + clock + `|[0-2]\d:[0-5]\d|\d{4})(?: [A-Z]{3,4})?(?: \d{4})?` +
		`|` + clock + `|1[6-9]\d{8}(?:\.\d+|\d{3})?)\b`
	durations = `(?:^|[^\w.$:/-])(<?\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h)(?: ?\d+(?:\.\d+)?(?:ms|s|m))*|\d+(?:\.\d+)? (?:milliseconds?|seconds?|secs?|minutes?))\b`
)

// Rules are what the manual has to say: what is written, and in place of what.
func Rules() (out [][2]string) {
	for _, r := range rules {
		name := "${" + r.name + "}"
		if r.numbered {
			name = "${" + r.name + "1}"
		}
		out = append(out, [2]string{name, r.what})
	}
	return out
}

// Values knows the names that stand for what changes. It is not safe for concurrent use.
type Values struct {
	secrets []string
	places  []Place           // longest first
	folders []Place           // those and the temporary ones, longest first
	temp    *regexp.Regexp    // what is temporary in this run
	names   map[string]string // by kind and value
	acting  []Place           // what has a name and can be put into arguments, longest first
	counts  map[string]int
}

// NewValues takes the folders of this run and all that must never be written. A secret of fewer than
// six bytes is none: taking it out would leave no text.
func NewValues(places []Place, secrets []string) *Values {
	v := &Values{names: map[string]string{}, counts: map[string]int{}}
	for _, s := range secrets {
		v.secrets = append(v.secrets, forms(s)...)
	}
	slices.SortFunc(v.secrets, longest)
	v.secrets = slices.Compact(v.secrets)
	var temps []string
	for _, p := range places {
		p.Path = strings.TrimRight(p.Path, `/\`)
		switch {
		case p.Path == "":
		case p.Name == "temp":
			temps = append(temps, regexp.QuoteMeta(p.Path))
			v.folders = append(v.folders, p)
		default:
			v.places = append(v.places, p)
			v.folders = append(v.folders, p)
			v.act(p)
		}
	}
	slices.SortFunc(temps, longest)
	v.temp = regexp.MustCompile(`(?:^|[^\w./}-])((?:` + strings.Join(append(temps, temporary), "|") + `)[/\\]` + pathPart + `)`)
	byLength := func(a, b Place) int { return longest(a.Path, b.Path) }
	slices.SortStableFunc(v.places, byLength)
	slices.SortStableFunc(v.folders, byLength)
	return v
}

func longest(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }

// forms are a secret as it may be found in a text.
func forms(s string) []string {
	const least = 6
	if len(s) < least {
		return nil
	}
	return []string{s, escaped(s), url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s))}
}

// escaped is a text as it stands inside a JSON string.
func escaped(s string) string {
	b, err := marshal(s)
	if err != nil || len(b) < 2 {
		return s
	}
	return string(b[1 : len(b)-1])
}

// Key is what stands in the place of a secret.
const Key = "${key}"

// Mask takes secrets out of a text.
func (v *Values) Mask(s string) string {
	for _, k := range v.secrets {
		s = strings.ReplaceAll(s, k, Key)
	}
	return s
}

func (v *Values) maskRaw(b []byte) []byte {
	if b == nil {
		return nil
	}
	return []byte(v.Mask(string(b)))
}

// Take puts names in place of what changes from run to run, and remembers what they stand for.
func (v *Values) Take(s string) string {
	s = v.Mask(s)
	for _, r := range rules {
		switch {
		case r.name == "root":
			for _, p := range v.places {
				s, _ = replaceWhole(s, p.Path, "${"+p.Name+"}")
			}
		case r.name == "temp":
			s = v.replace(s, r, v.temp)
		case r.find != nil:
			s = v.replace(s, r, r.find())
		}
	}
	if v.counts["pid"] == 0 {
		return s
	}
	return number().ReplaceAllStringFunc(s, func(m string) string {
		if name, ok := v.names["pid "+m]; ok {
			return "${" + name + "}"
		}
		return m
	})
}

// typed is what a person wrote, but for secrets, for where the run is and for the file that a summary
// names: another date, duration or
// number in it is another task. What it speaks of has a name from then on, in results and calls, as
// anywhere else.
func (v *Values) typed(s string) string {
	v.Take(s)
	s = v.Mask(s)
	for _, r := range rules {
		if r.name == archive {
			s = v.replace(s, r, r.find())
		}
	}
	for _, p := range v.folders {
		s, _ = replaceWhere(s, p.Path, "${"+p.Name+"}", p.Name == "temp")
	}
	return s
}

// number is what a pid that was named once may look like elsewhere.
var number = compiled(`\b\d{4,}\b`)

func (v *Values) replace(s string, r rule, find *regexp.Regexp) string {
	found := find.FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		from, to := f[len(f)-2], f[len(f)-1]
		b.WriteString(s[at:from])
		b.WriteString("${" + v.name(r, s[from:to]) + "}")
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

// name is the name of a value, a new one if it has none.
func (v *Values) name(r rule, value string) string {
	if !r.numbered {
		return r.name
	}
	name, ok := v.names[r.name+" "+value]
	if !ok {
		v.counts[r.name]++
		name = fmt.Sprintf("%s%d", r.name, v.counts[r.name])
		v.names[r.name+" "+value] = name
		if r.name != "job" {
			v.act(Place{name, value})
		}
	}
	return name
}

func (v *Values) act(p Place) {
	v.acting = append(v.acting, p)
	slices.SortStableFunc(v.acting, func(a, b Place) int { return longest(a.Path, b.Path) })
}

// pids finds short numbers in arguments that are of processes: a kill is told them, which must never
// be those of another run.
var pids = compiled(`\bkill(?:\s+-[\w-]*)*(?:\s+-?\d+\b)+|(?i:\b(?:p?pid|process)[ =:#]{1,2}\d+\b)`)

// lift puts names into the arguments of a call for what they would have to be in another run. Where
// they could not be put back to the byte, the arguments stay.
func (v *Values) lift(args string) (string, []string) {
	out, names := v.named(args)
	if v.drop(out, names) != args {
		return args, nil
	}
	return out, names
}

func (v *Values) named(args string) (string, []string) {
	var used []string
	isJSON := json.Valid([]byte(args))
	was := args
	for _, p := range v.acting {
		name := "${" + p.Name + "}"
		if strings.Contains(was, name) {
			continue // the model wrote just that: it must stay
		}
		value := p.Path
		if isJSON {
			value = escaped(value)
		}
		n := 0
		if strings.HasPrefix(p.Name, "pid") && len(value) < 4 {
			args = pids().ReplaceAllStringFunc(args, func(m string) string {
				m, k := replaceWhole(m, value, name)
				n += k
				return m
			})
		} else {
			args, n = replaceWhole(args, value, name)
		}
		if n > 0 && !slices.Contains(used, p.Name) {
			used = append(used, p.Name)
		}
	}
	return args, used
}

// drop puts values in place of the names that lift put into arguments.
func (v *Values) drop(args string, names []string) string {
	if len(names) == 0 {
		return args
	}
	fill := func(form func(string) string) string {
		out := args
		for _, name := range names {
			for _, p := range v.acting {
				if p.Name == name {
					out = strings.ReplaceAll(out, "${"+name+"}", form(p.Path))
					break
				}
			}
		}
		return out
	}
	// A name may stand for a number, so it takes the values to tell whether these are JSON.
	if out := fill(escaped); json.Valid([]byte(out)) {
		return out
	}
	return fill(func(s string) string { return s })
}

// replaceWhole replaces what is not a part of a longer name or number.
func replaceWhole(s, old, by string) (string, int) { return replaceWhere(s, old, by, false) }

// replaceWhere can also leave what is the end of a longer path, as that of a short one often is.
func replaceWhere(s, old, by string, begins bool) (string, int) {
	if old == "" || !strings.Contains(s, old) {
		return s, 0
	}
	var b strings.Builder
	n := 0
	for from := 0; ; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			b.WriteString(s[from:])
			return b.String(), n
		}
		at, end := from+i, from+i+len(old)
		b.WriteString(s[from:at])
		if at > 0 && goesOn(s[at-1], old[0], begins) || joined(s[end:]) {
			b.WriteString(old)
		} else {
			b.WriteString(by)
			n++
		}
		from = end
	}
}

// goesOn reports whether a name or, with path, a path that stands before a byte goes on with it.
func goesOn(before, first byte, path bool) bool {
	return inName(before) && (path || inName(first)) || path && strings.IndexByte(`./\}~-`, before) >= 0
}

// joined reports whether what follows goes on with the name before it.
func joined(rest string) bool {
	if rest == "" {
		return false
	}
	return inName(rest[0]) || rest[0] == '-' || rest[0] == '.' && len(rest) > 1 && inName(rest[1])
}

func inName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}
