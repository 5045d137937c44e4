package tool

import (
	"errors"
	"strings"
)

// Failure is one sentence the model may read when a call fails, with {blanks} that an occasion
// fills. Tools declare theirs as package variables and list them in their Spec, so that a test can
// see to it that every one is exercised.
type Failure struct{ Form string }

// Fails declares a failure.
func Fails(form string) *Failure { return &Failure{form} }

// Error is the sentence with its blanks open.
func (f *Failure) Error() string { return f.Form }

// With fills the blanks: With("path", p, "size", s). Values are inserted as they are, once.
func (f *Failure) With(pairs ...string) error {
	r := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		r = append(r, "{"+pairs[i]+"}", pairs[i+1])
	}
	return &occasion{f, strings.NewReplacer(r...).Replace(f.Form)}
}

// occasion is a failure that happened. errors.Is finds the Failure it is an occasion of.
type occasion struct {
	of   *Failure
	text string
}

func (o *occasion) Error() string { return o.text }
func (o *occasion) Unwrap() error { return o.of }

// Sentence is what the model reads of an error that is a Failure.
func Sentence(err error) (string, bool) {
	var o *occasion
	if errors.As(err, &o) {
		return o.text, true
	}
	var f *Failure
	if errors.As(err, &f) {
		return f.Form, true
	}
	return "", false
}
