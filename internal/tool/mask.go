package tool

import (
	"encoding/json"
	"strings"
)

const maskBegins = "[key kept by jig: "

// Mask is what a model reads in the place of a key that jig holds. name says whose it is.
func Mask(name string) string { return maskBegins + name + "]" }

// HoldsMask reports whether a call's arguments hold such a text. Written to a file it would destroy the
// key that it stands for.
func HoldsMask(args string) bool {
	if strings.Contains(args, maskBegins) {
		return true
	}
	if !strings.Contains(args, `\u`) {
		return false
	}
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return false
	}
	plain, err := json.Marshal(v)
	return err == nil && strings.Contains(string(plain), maskBegins)
}
