package history

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is where a word stands.
type span struct{ from, to int }

// words finds the words of a text as the index does: letters and digits in a row, with the accents that
// follow them. Private characters are none although they are for the index, which has words of its own
// that nobody asks for.
func words(s string) iter.Seq[span] {
	return func(yield func(span) bool) {
		from := -1
		for i, r := range s {
			switch {
			case inWord(r, s[i:]):
				if from < 0 {
					from = i
				}
			case from >= 0 && unicode.Is(unicode.Mn, r):
			case from >= 0:
				if !yield(span{from, i}) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(span{from, len(s)})
		}
	}
}

func inWord(r rune, at string) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	if r == utf8.RuneError && !strings.HasPrefix(at, "\uFFFD") {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// fold makes words equal that differ in case and accents alone. It only serves to show where a match
// is: what matches is the index's to say, which knows more accents.
func fold(word string) string {
	plain := true
	for i := range len(word) {
		if c := word[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return word
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return bare(unicode.ToLower(r))
	}, word)
}

// accented holds, for each Latin letter, those that are it with an accent.
const accented = "aàáâãäåāăąǎȁȃȧạảấầẩẫậắằẳẵặ cçćĉċč dďḑḍḏ eèéêëēĕėęěȅȇȩẹẻẽếềểễệ gĝğġģǧǵḡ hĥȟḣḥḧḩ iìíîïĩīĭįǐȉȋỉị " +
	"jĵǰ kķǩḱḳḵ lĺļľḷḹḻ mḿṁṃ nñńņňǹṅṇṉ oòóôõöōŏőơǒǫȍȏȯọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṟ sśŝşšșṡṣ tţťțṫṭṯẗ " +
	"uùúûüũūŭůűųưǔȕȗụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ"

func bare(r rune) rune {
	at := strings.IndexRune(accented, r)
	if at < 0 {
		return r
	}
	group := strings.LastIndexByte(accented[:at], ' ') + 1
	to, _ := utf8.DecodeRuneInString(accented[group:])
	return to
}
