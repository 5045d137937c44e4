package regex

// look is an assertion about the bytes around a position.
type look uint8

const (
	lookLineStart look = iota
	lookLineEnd
	lookLineStartCR // as lookLineStart, but "\r\n" and "\r" end a line too
	lookLineEndCR
	lookTextStart
	lookTextEnd
	lookWord
	lookNotWord
	lookWordStart
	lookWordEnd
	lookWordStartHalf
	lookWordEndHalf
	lookWordASCII
	lookNotWordASCII
	lookWordStartASCII
	lookWordEndASCII
	lookWordStartHalfASCII
	lookWordEndHalfASCII
)

// behind says what ends at a position.
type behind uint8

const (
	behindStart behind = iota // nothing: a line begins here
	behindCR
	behindWord    // an ASCII word character
	behindUniWord // another word character
	behindOther   // another character
	behindBad     // bytes that are not a character, or the first part of one
)

// ahead is a set of possibilities for what begins at a position. An assertion is
// decided by what is behind up to a set of what has to be ahead.
type ahead uint8

const (
	aheadLF ahead = 1 << iota
	aheadEnd
	aheadCR
	aheadWord
	aheadUniWord
	aheadOther
	aheadBad

	aheadAny     = 1<<7 - 1
	aheadAnyWord = aheadWord | aheadUniWord
	// aheadLong are those that cannot be told apart by their first byte.
	aheadLong = aheadUniWord | aheadOther | aheadBad
)

// needs returns what has to be ahead for the assertion to hold where b is behind.
func (l look) needs(b behind) ahead {
	switch l {
	case lookLineStart, lookTextStart:
		return only(b == behindStart, aheadAny)
	case lookLineEnd:
		return aheadLF | aheadEnd
	case lookTextEnd:
		return aheadEnd
	case lookLineStartCR:
		switch b {
		case behindStart:
			return aheadAny
		case behindCR:
			return aheadAny &^ aheadLF
		}
		return 0
	case lookLineEndCR:
		return aheadEnd | aheadCR | only(b != behindCR, aheadLF)
	}
	if l >= lookWordASCII {
		return (l - lookWordASCII + lookWord).word(b == behindWord, true, aheadWord, aheadAny&^aheadWord)
	}
	return l.word(b == behindWord || b == behindUniWord, b != behindBad, aheadAnyWord, aheadAny&^aheadAnyWord)
}

// word decides a word assertion. The sets are those of what counts as a word ahead
// and as none. The negated and the half assertions, which could otherwise hold in
// the midst of a character, hold only beside whole ones.
func (l look) word(inWord, valid bool, yes, no ahead) ahead {
	whole := no
	if yes&aheadUniWord != 0 {
		whole &^= aheadBad
	}
	switch l {
	case lookWord:
		if inWord {
			return no
		}
		return yes
	case lookNotWord:
		if inWord {
			return yes
		}
		return only(valid, whole)
	case lookWordStart:
		return only(!inWord, yes)
	case lookWordEnd:
		return only(inWord, no)
	case lookWordStartHalf:
		return only(!inWord && valid, aheadAny)
	default: // lookWordEndHalf
		return whole
	}
}

func only(cond bool, set ahead) ahead {
	if cond {
		return set
	}
	return 0
}

func (l look) isUnicodeWord() bool { return lookWord <= l && l <= lookWordEndHalf }

func isWordByte(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_'
}

// behindByte is what a byte leaves behind itself, if it is ASCII.
func behindByte(b byte) behind {
	switch {
	case isWordByte(b):
		return behindWord
	case b == '\r':
		return behindCR
	case b < 0x80:
		return behindOther
	}
	return behindBad
}

// aheadByte is what begins with an ASCII byte.
func aheadByte(b byte) ahead {
	switch {
	case isWordByte(b):
		return aheadWord
	case b == '\r':
		return aheadCR
	case b == '\n':
		return aheadLF
	}
	return aheadOther
}
