package export

import (
	"regexp"
	"strings"
)

// These are looked for outside of code alone.
var (
	tags       = regexp.MustCompile(`<([A-Za-z/!?])`)
	target     = regexp.MustCompile(`\](\(|:)[\s<]*([A-Za-z&][A-Za-z0-9+.&#;-]*):`)
	plainLink  = regexp.MustCompile("\\]\\([^\\s()<>'\"`\\\\]+\\)")
	danger     = regexp.MustCompile(`!\[|<[A-Za-z/!?]`)
	linkBegins = regexp.MustCompile(`\][(:]`)
)

// inert keeps the lines of a text from being HTML and pictures, which a viewer would load from anywhere,
// and its links from leading anywhere but to the web. Code within a line is left, as long as it is certain
// that a viewer takes it for code, too: doubt lasts until the paragraph ends.
type inert struct{ doubt bool }

func (in *inert) line(l string) string {
	if strings.TrimSpace(l) == "" {
		in.doubt = false
		return l
	}
	parts, whole := spans(l)
	outside := ""
	for i := 0; i < len(parts); i += 2 {
		outside += parts[i] + "\n"
	}
	in.doubt = in.doubt || !whole || strings.Contains(l, "\\`") || linkBegins.MatchString(plainLink.ReplaceAllString(outside, ""))
	var b strings.Builder
	for i, s := range parts {
		if i%2 == 0 || in.doubt && danger.MatchString(s) {
			s = calm(s)
		}
		b.WriteString(s)
	}
	return b.String()
}

func calm(s string) string {
	s = target.ReplaceAllStringFunc(s, func(found string) string {
		switch m := target.FindStringSubmatch(found); strings.ToLower(m[2]) {
		case "http", "https", "mailto":
			return found
		}
		return `\` + found
	})
	// A backslash before it would undo another one.
	return strings.ReplaceAll(tags.ReplaceAllString(s, "&lt;$1"), "![", "&#33;[")
}

// spans parts a line into text and code in turns: code begins and ends with a row of as many signs. whole
// says that each row has its other.
func spans(l string) (parts []string, whole bool) {
	rows := backticks.FindAllStringIndex(l, -1)
	at := 0
	whole = true
	for i := 0; i < len(rows); i++ {
		j := i + 1
		for j < len(rows) && rows[j][1]-rows[j][0] != rows[i][1]-rows[i][0] {
			j++
		}
		if j == len(rows) {
			whole = false
			continue
		}
		parts = append(parts, l[at:rows[i][0]], l[rows[i][0]:rows[j][1]])
		at, i = rows[j][1], j
	}
	return append(parts, l[at:]), whole
}
