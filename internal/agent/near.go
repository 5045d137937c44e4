package agent

import "strings"

// near reports whether two tool names are alike enough to suggest one for the other: equal but for
// case and separators, one edit apart, or one the tail of the other as in "functions.read_file".
func near(have, want string) bool {
	a, b := plain(have), plain(want)
	return a == b || oneEdit(a, b) || (len(a) > 3 && strings.HasSuffix(b, a))
}

func plain(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", ":", "").Replace(strings.ToLower(s))
}

func oneEdit(a, b string) bool {
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
	case i == len(a):
		return true
	case len(a) < len(b):
		return a[i:] == b[i+1:]
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
