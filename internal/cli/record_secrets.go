package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// held are the secrets among the variables of an environment: what those hold whose names say so, and
// the credentials in addresses.
func held(environ []string) (out []string) {
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch least := secretFrom(name); {
		case !ok:
		case least > 0 && len(value) >= least && !setting(value):
			out = append(out, value)
		default:
			out = append(out, credentials(value)...) // of a proxy, a database
		}
	}
	return out
}

// What a name's words end in where the value is a secret. The short ones only count at a name's end:
// AUTH_TYPE and PASS_COUNT are none.
var (
	secretWords = []string{"APIKEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "CREDENTIAL", "CREDENTIALS", "CREDS", "AUTHORIZATION"}
	secretEnds  = []string{"PASS", "PWD", "AUTH"}
	wholeWords  = []string{"KEY", "PAT"} // a MONKEY and a COMPAT are none
	otherWords  = []string{"PWD", "OLDPWD", "COMPASS", "BYPASS", "ASKPASS"}
)

// secretFrom is from how many bytes on a variable's value is a secret, by the variable's name; 0 is
// never. Where the name goes on after the word that says so, a short value is more likely a setting.
func secretFrom(name string) int {
	const atEnd, inside = 6, 8
	words := strings.FieldsFunc(strings.TrimRight(strings.ToUpper(name), "0123456789_-"), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	least := 0
	for i, w := range words {
		ends := func(s string) bool { return strings.HasSuffix(w, s) }
		last := i == len(words)-1
		switch {
		case slices.Contains(otherWords, w) && (len(words) == 1 || w != "PWD"):
		case last && (slices.ContainsFunc(secretEnds, ends) || slices.Contains(wholeWords, w) || slices.ContainsFunc(secretWords, ends)):
			return atEnd
		case w == "KEY" || slices.ContainsFunc(secretWords, ends):
			least = inside
		}
	}
	return least
}

var (
	flagForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[a-z][a-z0-9-]*$`) })
	flagWords = []string{"enabled", "disabled", "enable", "disable", "always", "prompt", "required", "optional", "default", "automatic", "keyring", "keychain"}
)

// setting reports whether a value is a path, or one of the words that switch something.
func setting(value string) bool {
	if slices.Contains(flagWords, strings.ToLower(value)) || flagForm().MatchString(value) {
		return true
	}
	if strings.HasPrefix(value, "~/") {
		return true
	}
	if !filepath.IsAbs(value) { // a relative path cannot be told from a password
		return false
	}
	// What is encoded may begin with a slash, too, but it does not lie in any folder.
	if _, err := os.Lstat(value); err == nil {
		return true
	}
	dir := filepath.Dir(value)
	_, err := os.Lstat(dir)
	return err == nil && dir != filepath.Dir(dir)
}
