package nearest

import "testing"

func TestNearestIsOneSlipAway(t *testing.T) {
	names := []string{"shell", "code", "skills", "view_image", "url", "a"}
	for name, want := range map[string]string{
		"shel": "shell", "shelll": "shell", "shelk": "shell", "hsell": "shell", "shlel": "shell", "xshell": "shell",
		"Shell": "shell", "viewImage": "view_image", "view-image": "view_image", "viewimage": "view_image",
		"shll":  "shell",
		"shlle": "", // two slips
		"she":   "", "code": "", "b": "", "": "", "kye": "", "ur": "url", "lur": "", "ulr": "url",
		"cöde": "code",
	} {
		if got := Of(name, names); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestOneEditAgreesWithTheMatrix compares the quick answer with the textbook's.
func TestOneEditAgreesWithTheMatrix(t *testing.T) {
	words := []string{""}
	for i := 0; len(words[i]) < 4; i++ {
		for _, c := range "ab" {
			words = append(words, words[i]+string(c))
		}
	}
	for _, a := range words {
		for _, b := range words {
			if got, want := oneEdit([]rune(a), []rune(b)), distance(a, b) == 1; got != want {
				t.Errorf("%q and %q: got %v", a, b, got)
			}
		}
	}
}

// distance is the number of edits, neighbours swapped being one.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}
