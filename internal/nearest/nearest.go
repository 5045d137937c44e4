// Package nearest finds the name somebody meant who wrote one that does not exist. It only answers for
// one slip: a guess that is further off misleads more often than it helps.
package nearest

// Of gives the candidate that is one slip away from name: a letter too many, too
// few or different, two neighbours swapped, or another spelling of the same words
// (case, dashes, underscores). Empty when there is none; the first when there are
// several.
func Of(name string, candidates []string) string {
	for _, c := range candidates {
		if c != name && Fold(c) == Fold(name) {
			return c
		}
	}
	for _, c := range candidates {
		// A single letter is one edit away from every other single letter.
		if len(c) > 1 && len(name) > 1 && oneEdit([]rune(name), []rune(c)) {
			return c
		}
	}
	return ""
}

// Fold reduces a key to what is the same in snake_case, camelCase and kebab-case.
func Fold(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r == '_' || r == '-':
		case 'A' <= r && r <= 'Z':
			out = append(out, r+'a'-'A')
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// oneEdit tells whether two texts differ by exactly one insertion, deletion,
// substitution or swap of neighbours. The general matrix would cost the product of
// both lengths for a question that the first difference answers.
func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) != len(b):
		return equal(a[i:], b[i+1:])
	case i == len(a):
		return false
	case equal(a[i+1:], b[i+1:]):
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && equal(a[i+2:], b[i+2:])
}

func equal(a, b []rune) bool { return string(a) == string(b) }
