package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jig/internal/config"
	"jig/internal/model/catalog"
	"jig/internal/model/local"
)

// patienceForPorts is how long the machine's own ports are waited for. Who listens answers at once.
const patienceForPorts = 2 * time.Second

// offer is a way to a model that a first configuration can take.
type offer struct {
	ref  string // provider:id
	from string // where it comes from, and what it costs, for people
	url  string // of a server without a key; "" needs no entry
}

// localName is what a server on the own machine is called in a first configuration. A name such as
// ollama would make the key of a service of that name go there.
const localName = "local"

// favourites are the models that are offered where there is a key, one of each vendor.
var favourites = []string{"anthropic:claude-sonnet-5-5", "openresponses:gpt-6.1-sol", "gemini:gemini-4-argon"}

// placeholder stands in a first configuration where nothing was found.
const placeholder = "openresponses:gpt-6.1-sol"

// withKeys are the offers for which there is a key in the environment. Nobody is asked anything.
func withKeys(w World, s *survey) []offer {
	cfg, _, _ := config.Load(config.Input{Env: s.env}) // nothing is in it that could be wrong
	var out []offer
	for _, ref := range favourites {
		r, err := cfg.ResolveModel(ref)
		if err != nil {
			w.warn("%v", err)
			continue
		}
		if r.KeySource == "" {
			continue
		}
		from := "the key is in " + r.KeySource
		if r.Provider.URL != "" {
			// What is compatible speaks chat completions first of all.
			if id, ok := strings.CutPrefix(ref, "openresponses:"); ok {
				if r, err = cfg.ResolveModel("openai:" + id); err != nil {
					continue
				}
				ref = r.Ref
			}
			from += ", at " + address(r)
		}
		out = append(out, offer{ref: ref, from: from + "; " + priced(r)})
	}
	return out
}

// priced says in a few words what a model costs.
func priced(r config.Resolved) string {
	p := known(r).Price
	if p == nil {
		return "its price is not known"
	}
	return fmt.Sprintf("%s, dollars for a million tokens as listed on %s", priceNote(p), catalog.Date())
}

// onPorts are the offers of servers on this machine. They are asked for their models and told nothing.
func onPorts(ctx context.Context, w World) []offer {
	var out []offer
	for _, f := range local.Find(ctx, portsHere(w), patienceForPorts) {
		from := "at " + f.URL
		if f.Port.Usual != "" {
			from += ", where " + f.Port.Usual + " usually is"
		}
		if n := len(f.Models); n > 1 {
			from += fmt.Sprintf(", the first of %d models", n)
		}
		out = append(out, offer{ref: localName + ":" + f.Models[0], from: from + "; its price is not known", url: f.URL})
	}
	return out
}

func portsHere(w World) []local.Port {
	list, set := w.Getenv(testOnlyPorts)
	if !set {
		return local.Usual()
	}
	var out []local.Port
	for p := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(p); err == nil {
			out = append(out, local.Port{Number: n})
		}
	}
	return out
}

// firstStart offers what there is here to a person who has no configuration at all. Nothing goes to a
// provider before a yes, and without one nothing is written.
func firstStart(ctx context.Context, w World, s *survey) error {
	path := s.userFile()
	offers := append(withKeys(w, s), onPorts(ctx, w)...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(offers) == 0 {
		fmt.Fprintf(w.Err, "Looked for a key (%s) and for a server on this machine's ports (%s): found none.\n", strings.Join(keyNames(s), ", "), portList(w))
		return errNothing
	}
	fmt.Fprint(w.Err, "There is no configuration yet. ")
	o, err := ask(w, path, offers)
	if err != nil {
		return err
	}
	if o == nil {
		return errNothing
	}
	if err := begin(path, *o); err != nil {
		return err
	}
	fmt.Fprintln(w.Err, wrote(path, *o))
	return nil
}

// isFirst says that there is no configuration that counts. Of a jig that a model started, a person
// cannot be asked.
func isFirst(w World, s *survey, o Options) bool {
	for _, src := range s.sources {
		if src.Trusted {
			return false
		}
	}
	return o.Agent == "" && o.Persona == "" && o.Model == "" && s.noPlaces == nil && !modelStarted(w) && !exists(s.userFile())
}

// ask shows the offers and asks for one; nil is a no. Everything that is shown is our own but for the
// models' names, which are plain, and the paths and addresses of the user.
func ask(w World, path string, offers []offer) (*offer, error) {
	fmt.Fprintln(w.Err, "These models can be had here:")
	for i, o := range offers {
		fmt.Fprintf(w.Err, "  %d  %s (%s)\n", i+1, config.Shown(o.ref), config.ShownLine(o.from))
	}
	which, want := "it", "y/N"
	if len(offers) > 1 {
		which, want = "the first", "y/N, or a number"
	}
	fmt.Fprintf(w.Err, "Nothing of yours has been sent to any of them. A yes writes %s: an agent named default that uses %s and has the shell and code toolsets.\nWrite it? [%s] ",
		config.Shown(path), which, want)
	line, err := answers(w).ReadString('\n')
	if err != nil { // the end of the input is no answer, and no answer is a no
		fmt.Fprintln(w.Err)
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		return nil, nil
	}
	a := strings.ToLower(strings.TrimSpace(line))
	if a == "y" || a == "yes" {
		return &offers[0], nil
	}
	if n, err := strconv.Atoi(a); err == nil && n >= 1 && n <= len(offers) {
		return &offers[n-1], nil
	}
	return nil, nil
}

// keyNames are the variables in which a key is looked for.
func keyNames(s *survey) []string {
	cfg, _, _ := config.Load(config.Input{Env: config.Env{GOOS: s.env.GOOS}})
	var out []string
	for _, ref := range favourites {
		if r, err := cfg.ResolveModel(ref); err == nil {
			out = append(out, r.KeyNames...)
		}
	}
	return out
}

func portList(w World) string {
	var out []string
	for _, p := range portsHere(w) {
		out = append(out, strconv.Itoa(p.Number))
	}
	return strings.Join(out, ", ")
}
