package cli

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"jig/internal/config"
	"jig/internal/sandbox"
	"jig/internal/tool"
	"jig/internal/tools/code"
	"jig/internal/tools/intrinsic"
	"jig/internal/tools/shell"
)

// toolset is a name under tools: that this build can offer.
type toolset struct {
	name string
	open func(t config.Tool, p place) (tool.Owner, error)
}

// toolsets are all of them, in the order in which a model is told of their tools.
var toolsets = []toolset{
	{"shell", openShell},
	{"code", openCode},
}

func openShell(t config.Tool, p place) (tool.Owner, error) {
	c, err := shell.Decode(t.Decode)
	if err != nil {
		return nil, err
	}
	o := shell.Options{Config: c, OS: runtime.GOOS, Root: p.root, Cwd: p.cwd, Home: p.home, Temp: p.temp, Cache: p.cache,
		Binary: p.binary, Pid: os.Getpid(), Env: p.env, Keys: p.keys, Extra: p.extra, Tier: sandbox.None}
	if p.yield != "" {
		if o.Yield, err = time.ParseDuration(p.yield); err != nil {
			return nil, fmt.Errorf("%s: %w", testOnlyYield, err)
		}
	}
	if !c.Off() && p.regime != nil {
		r := p.regime(func(path string) bool { return shell.CouldWrite(o, path) })
		o.Tier, o.Bwrap = r.report.Tier, r.bwrap
	}
	if p.budget != nil {
		o.Env, o.Child = p.budget.forCommands(o.Env, p.budget.dir == "" || shell.CouldWrite(o, p.budget.dir))
	}
	return shell.New(o)
}

func openCode(t config.Tool, p place) (tool.Owner, error) {
	c, err := code.Decode(t.Decode)
	if err != nil {
		return nil, err
	}
	c.Home, c.Own = p.home, p.own
	return code.New(p.root, c)
}

// ownersOf makes the owners of an agent's tools: those it chose, and those that nothing switches off.
// Only a plain chat has none of these.
func ownersOf(a config.Agent, p place, goals intrinsic.Keeper) (owners []tool.Owner, warnings []string) {
	owners, warnings = openTools(a.Tools.On, p)
	if !a.PlainChat() {
		owners = append(owners, intrinsic.Manual(), intrinsic.Goals(goals))
	}
	return owners, warnings
}

// openTools makes the owners of the tools that are on. What cannot be made is left out with a
// warning: an agent with fewer tools is better than none, as long as it is said.
func openTools(on []config.Tool, p place) (owners []tool.Owner, warnings []string) {
	left := map[string]bool{}
	for _, s := range toolsets {
		for _, t := range on {
			if t.Name != s.name {
				continue
			}
			left[t.Name] = true
			o, err := s.open(t, p)
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("toolset %q: %v (ignored)", t.Name, err))
				continue
			}
			owners = append(owners, o)
		}
	}
	for _, t := range on {
		name := t.Name
		if t.Group != "" {
			name = t.Group
		}
		if !left[t.Name] && !left[name] {
			left[name] = true
			warnings = append(warnings, fmt.Sprintf("toolset %q: not in this build (ignored)", name))
		}
	}
	return owners, warnings
}
