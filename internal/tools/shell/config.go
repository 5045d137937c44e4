package shell

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jig/internal/sandbox"
)

// Config is what the set can be told.
type Config struct {
	Sandbox string   `yaml:"sandbox" json:"sandbox"`   // "auto" or "off"; empty is auto
	Network bool     `yaml:"network" json:"network"`   // sandboxed commands may use the network
	AutoRun bool     `yaml:"auto_run" json:"auto_run"` // no call asks
	Write   []string `yaml:"write" json:"write"`       // more places sandboxed commands may write to
}

// Decode reads the configuration with the caller's decoder, which gets a struct with yaml and json
// tags, and puts this set's words before its error. Nothing given is the zero Config, so a caller
// need not call it then.
func Decode(decode func(into any) error) (Config, error) {
	var c Config
	if err := decode(&c); err != nil {
		return Config{}, fmt.Errorf("config must be a mapping (sandbox, network, auto_run, write): %w", err)
	}
	return c, c.check()
}

func (c Config) check() error {
	switch c.Sandbox {
	case "", "auto", "off":
		return nil
	}
	return fmt.Errorf(`sandbox must be "auto" or "off", got %q`, c.Sandbox)
}

// Off reports whether the configuration rules a sandbox out, so that none need be looked for.
func (c Config) Off() bool { return c.Sandbox == "off" }

// writePaths makes the configured places absolute: ~ is the home directory, anything relative is
// meant from the directory the program was started in.
func writePaths(write []string, home, cwd string) ([]string, error) {
	var out []string
	for _, p := range write {
		if strings.TrimSpace(p) == "" {
			continue
		}
		if p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, `~\`) && filepath.Separator == '\\' {
			if home == "" {
				return nil, fmt.Errorf("write: %s cannot be resolved: the home directory is unknown", p)
			}
			p = filepath.Join(home, p[1:])
		}
		if !filepath.IsAbs(p) {
			if cwd == "" {
				return nil, errors.New("write: " + p + " cannot be resolved: the working directory is unknown")
			}
			p = filepath.Join(cwd, p)
		}
		p = filepath.Clean(p)
		for _, system := range []string{"/proc", "/sys", "/dev"} {
			if p == system || system == "/proc" && strings.HasPrefix(p, "/proc/") {
				return nil, fmt.Errorf("write: %s cannot be opened: it would be the machine's own in place of the sandbox's", p)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// CouldWrite reports whether commands under these options could write to path, or replace it: what
// they could write is not to be believed.
func CouldWrite(o Options, path string) bool {
	extra, err := writePaths(o.Config.Write, o.Home, o.Cwd)
	if err != nil {
		return true
	}
	places := sandbox.Places{Root: o.Root, Temp: sandbox.TempDir(o.Temp, append([]string{o.Root}, extra...)...), Write: extra}
	return sandbox.Writable(sandbox.Policy{Write: append(sandbox.WriteRoots(places), o.Cache)}, path)
}
