package config

import (
	"strings"
	"testing"
)

// machine is an environment with the variables given as name=value.
func machine(vars ...string) Env {
	m := map[string]string{}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		m[name] = value
	}
	return Env{
		Getenv:    func(name string) (string, bool) { v, ok := m[name]; return v, ok },
		GOOS:      "linux",
		Home:      "/home/u",
		Cwd:       "/work/p/sub",
		Workspace: "/work/p",
		AppHome:   "/home/u/.config/jig",
	}
}

func user(yaml string) Source {
	return Source{Level: User, Path: "/u/config.yaml", Dir: "/u", Data: []byte(yaml)}
}

func project(depth int, yaml string) Source {
	return Source{Level: Project, Depth: depth, Path: "/p/.jig/config.yaml", Dir: "/p/.jig", Trusted: true, Data: []byte(yaml)}
}

func flagFile(yaml string) Source {
	return Source{Level: Flag, Path: "/c.yaml", Dir: "/", Data: []byte(yaml)}
}

func persona(id, text string) Source {
	return Source{Level: User, Kind: PersonaFile, Path: "/u/personas/" + id + ".md", Dir: "/u/personas", Data: []byte(text)}
}

// loaded is a load's whole outcome as text.
type loaded struct {
	*Config
	warnings, errors []string
}

func loadIn(env Env, sources ...Source) loaded {
	c, warnings, err := Load(Input{Sources: sources, Env: env})
	out := loaded{Config: c}
	for _, w := range warnings {
		out.warnings = append(out.warnings, w.String())
	}
	if err != nil {
		out.errors = strings.Split(err.Error(), "\n")
	}
	return out
}

func load(sources ...Source) loaded { return loadIn(machine(), sources...) }

// clean loads what must have no fault.
func clean(t *testing.T, sources ...Source) loaded {
	t.Helper()
	l := load(sources...)
	same(t, "errors", l.errors, nil)
	same(t, "warnings", l.warnings, nil)
	return l
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s:\n got: %s\nwant: %s", what, g, w)
	}
}

func equalTo[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
