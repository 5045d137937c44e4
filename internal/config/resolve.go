package config

import (
	"errors"
	"fmt"
	"strings"
)

// Resolved is a model with all that is needed to call it.
type Resolved struct {
	// Ref is what was asked for; Name is the models: entry, if it was one.
	Ref, Name string
	// ProviderName is the entry or built-in provider, Provider its settings with the
	// type filled in. URL is empty for the dialect's own address.
	ProviderName string
	Provider     Provider
	ID           string
	// Key is the key to send, empty when none was found, and KeySource says where from:
	// an environment variable's name or a place in a file.
	Key       Secret
	KeySource string
	// KeyNames are the environment variables that were looked at.
	KeyNames []string
	Knobs
	Price *Price
}

// Agent finds an agent or persona. The error names those that are near.
func (c *Config) Agent(name string) (Agent, error) {
	a, ok := c.Agents[name]
	if !ok {
		if len(c.Agents) == 0 {
			return Agent{}, fmt.Errorf("unknown agent \"%s\": none is configured", Shown(name))
		}
		return Agent{}, fmt.Errorf("unknown agent \"%s\"%s", Shown(name), wantNames(name, sorted(c.Agents)))
	}
	return a, nil
}

// ResolveModel finds a model by provider:id or by the name of a models: entry, and the
// key for it. A missing key is no error here: a server of one's own may need none.
func (c *Config) ResolveModel(ref string) (Resolved, error) {
	m, err := c.lookup(ref)
	if err != nil {
		return Resolved{}, err
	}
	r := Resolved{Ref: ref, Name: m.Name, ProviderName: m.Provider, ID: m.ID, Knobs: m.Knobs, Price: m.Price}
	p, ok := c.Providers[m.Provider]
	if !ok {
		p = Provider{Entry: Entry{Name: m.Provider}, Type: m.Provider}
	}
	if p.Type == "" { // an entry that failed its check
		return Resolved{}, fmt.Errorf("provider \"%s\" has no type", Shown(m.Provider))
	}
	if names := p.Unset("url"); p.Has("url") && p.URL == "" && len(names) > 0 {
		// The dialect's own address would be another host than the one meant.
		return Resolved{}, fmt.Errorf("provider \"%s\" has no address: environment variable %s is not set (%s)", Shown(m.Provider), Shown(names[0]), p.At("url"))
	}
	if v := baseURLVariable(p.Type); p.URL == "" && !p.Has("url") && v != "" {
		if p.URL, _ = c.env.getenv(v); p.URL != "" && !isHTTP(p.URL) {
			return Resolved{}, fmt.Errorf("environment variable %s holds no address: want http://… or https://…", v)
		}
	}
	r.Provider = p
	r.Key, r.KeySource, r.KeyNames = c.key(p)
	return r, nil
}

// CheckKey tells what to do when there is no key where one is surely needed: at the
// dialect's own address. A server at an address of one's own may need none.
func (r Resolved) CheckKey() error {
	if r.Key != "" || r.Provider.URL != "" || r.Provider.Type == "replay" {
		return nil
	}
	for name := range r.Provider.Headers {
		if strings.EqualFold(name, "authorization") || strings.EqualFold(name, "x-api-key") {
			return nil
		}
	}
	msg := fmt.Sprintf("no key for provider \"%s\": set %s, or %s.key in your configuration",
		Shown(r.ProviderName), r.KeyNames[0], coord("providers", r.ProviderName))
	if names := r.Provider.Unset("key"); len(names) > 0 {
		msg += fmt.Sprintf(" (which names environment variable %s, and that is not set)", Shown(names[0]))
	}
	return errors.New(msg)
}

// key finds a provider's key: the environment variable of the provider's own name, then
// key:, then the variable of its type. A variable of the type does not go before key:,
// because an entry with a name, an address and a key of its own means another service,
// and must not be sent the key of the first.
func (c *Config) key(p Provider) (key Secret, source string, names []string) {
	try := func(list []string) bool {
		for _, name := range list {
			names = append(names, name)
			if v, _ := c.env.getenv(name); v != "" {
				key, source = Secret(v), name
				return true
			}
		}
		return false
	}
	own := []string{KeyVariable(p.Name)}
	if p.Name == p.Type {
		own = typeVariables(p.Type)
	}
	switch {
	case p.Type == "replay" || try(own):
	case p.Key != "":
		key, source = p.Key, p.At("key").String()
	case p.Name != p.Type:
		try(typeVariables(p.Type))
	}
	return key, source, names
}

// ServiceKey finds the key of a service such as exa or mistral: the environment variable
// first, then keys:.
func (c *Config) ServiceKey(name string) Secret {
	if v, _ := c.env.getenv(KeyVariable(name)); v != "" {
		return Secret(v)
	}
	return c.Keys[name]
}

// KeyVariable gives the environment variable for the key of a name: EXA_API_KEY for exa.
func KeyVariable(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name)) + "_API_KEY"
}

func typeVariables(kind string) []string {
	switch kind {
	case "openresponses":
		return []string{"OPENAI_API_KEY"}
	case "gemini":
		return []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}
	case "replay":
		return nil
	}
	return []string{KeyVariable(kind)}
}

func baseURLVariable(kind string) string {
	switch kind {
	case "openai", "openresponses":
		return "OPENAI_BASE_URL"
	case "anthropic":
		return "ANTHROPIC_BASE_URL"
	}
	return ""
}

// Where gives the place of a setting that stands in no named entry, by coordinate, such
// as web.searxng or keys.exa.
func (c *Config) Where(coordinate string) (Pos, bool) {
	p, ok := c.where[coordinate]
	return p, ok
}
