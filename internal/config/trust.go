package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Hash is the content of a project level, in short: SHA-256 over the path and the bytes
// of its files, each with its length in front, so that no byte can move from one file
// or name to another unnoticed. Paths are taken relative to the level's folder and with
// slashes; the order of the files does not matter, and a trusted checkout that moves is
// another place (see [Trust.Trusts]), not another content.
func Hash(goos, level string, files []Source) string {
	level = Clean(goos, level)
	type file struct{ name, data []byte }
	list := make([]file, 0, len(files))
	for _, f := range files {
		name := Clean(goos, f.Path)
		if rest, ok := strings.CutPrefix(name, level+separator(goos)); ok {
			name = rest
		}
		list = append(list, file{[]byte(strings.ReplaceAll(name, separator(goos), "/")), f.Data})
	}
	slices.SortFunc(list, func(a, b file) int { return bytes.Compare(a.name, b.name) })
	h := sha256.New()
	for _, f := range list {
		for _, part := range [][]byte{f.name, f.data} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keptHashes is how many contents of one level stay trusted, so that going back and
// forth between branches does not ask each time.
const keptHashes = 16

// Trust is what a person said about project levels. The zero value trusts nothing;
// changes give a new value.
type Trust struct {
	goos   string
	levels []trusted
}

type trusted struct {
	Path   string   `json:"path"`
	Hashes []string `json:"hashes"` // newest last
}

type trustFile struct {
	Version int       `json:"version"`
	Levels  []trusted `json:"levels"`
}

const trustVersion = 1

// DecodeTrust reads a store as Encode writes it; empty data is an empty store. A store
// that cannot be read trusts nothing and comes with the reason.
func DecodeTrust(goos string, data []byte) (Trust, error) {
	empty := Trust{goos: goos}
	if len(bytes.TrimSpace(data)) == 0 {
		return empty, nil
	}
	var f trustFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return empty, fmt.Errorf("the list of trusted folders is damaged (%s): nothing is trusted until `jig trust` writes it anew", Shown(err.Error()))
	}
	if d.More() {
		return empty, errors.New("the list of trusted folders is damaged (text after its end): nothing is trusted until `jig trust` writes it anew")
	}
	if f.Version != trustVersion {
		return empty, fmt.Errorf("the list of trusted folders has version %d, this program knows %d: use the program that wrote it, or delete the list", f.Version, trustVersion)
	}
	t := empty
	for _, l := range f.Levels {
		for _, h := range l.Hashes {
			if !isHash(h) || !IsAbs(goos, l.Path) {
				return empty, errors.New("the list of trusted folders is damaged (a path or hash is none): nothing is trusted until `jig trust` writes it anew")
			}
			t = t.With(l.Path, h)
		}
	}
	return t, nil
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// Encode gives the store's file.
func (t Trust) Encode() []byte {
	f := trustFile{Version: trustVersion, Levels: t.levels}
	if f.Levels == nil {
		f.Levels = []trusted{}
	}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return append(data, '\n')
}

func (t Trust) find(path string) int {
	path = Clean(t.goos, path)
	return slices.IndexFunc(t.levels, func(l trusted) bool { return samePath(t.goos, l.Path, path) })
}

// Trusts tells whether a level's folder was trusted with exactly this content.
func (t Trust) Trusts(path, hash string) bool {
	i := t.find(path)
	return i >= 0 && slices.Contains(t.levels[i].Hashes, hash)
}

// Knows tells whether a level's folder was trusted with any content: if so and Trusts
// is false, it has changed since.
func (t Trust) Knows(path string) bool { return t.find(path) >= 0 }

// With also trusts a content of a level's folder. A path that is not absolute or a hash
// that is none changes nothing.
func (t Trust) With(path, hash string) Trust {
	if !IsAbs(t.goos, path) || !isHash(hash) {
		return t
	}
	out := Trust{goos: t.goos, levels: slices.Clone(t.levels)}
	i := out.find(path)
	if i < 0 {
		out.levels = append(out.levels, trusted{Path: Clean(t.goos, path), Hashes: []string{hash}})
		slices.SortFunc(out.levels, func(a, b trusted) int { return strings.Compare(a.Path, b.Path) })
		return out
	}
	hashes := slices.DeleteFunc(slices.Clone(out.levels[i].Hashes), func(h string) bool { return h == hash })
	hashes = append(hashes, hash)
	out.levels[i].Hashes = hashes[max(0, len(hashes)-keptHashes):]
	return out
}

// Without forgets a level's folder.
func (t Trust) Without(path string) Trust {
	i := t.find(path)
	if i < 0 {
		return t
	}
	return Trust{goos: t.goos, levels: slices.Delete(slices.Clone(t.levels), i, i+1)}
}

// Paths lists the trusted folders.
func (t Trust) Paths() []string {
	paths := make([]string, len(t.levels))
	for i, l := range t.levels {
		paths[i] = l.Path
	}
	return paths
}
