package endpoint

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Count is a number of tokens as a provider tells it. Some write it with a decimal point or in
// quotes. What is no such number is not told: it is not worth a reply.
type Count struct {
	N    int
	Told bool
}

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(b []byte) error {
	const longest = 32 // quotes and all
	if len(b) > longest {
		return nil
	}
	s := string(b)
	if strings.HasPrefix(s, `"`) {
		s = strings.TrimSpace(strings.Trim(s, `"`))
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < 1e12 {
		*c = Count{N: int(math.Round(f)), Told: true}
	}
	return nil
}

// Merge takes over a later count, where one was told.
func (c *Count) Merge(later Count) {
	if later.Told {
		*c = later
	}
}

// Aside is an object that is not worth a reply: anything else in its place, as the empty list that
// some write for an empty object, is nothing.
type Aside[T any] struct{ Value *T }

// UnmarshalJSON never fails.
func (a *Aside[T]) UnmarshalJSON(b []byte) error {
	var v T
	if len(b) > 0 && b[0] == '{' && json.Unmarshal(b, &v) == nil {
		a.Value = &v
	}
	return nil
}
