package cli

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"testing"

	"jig/docs"
	"jig/internal/config"
	"jig/internal/model/catalog"
	"jig/internal/model/local"
)

// TestFavouritesAreStillListed fails when the price lists no longer have a model that a first start
// offers: it is likely to be gone from the vendor's service, too.
func TestFavouritesAreStillListed(t *testing.T) {
	cfg, _, _ := config.Load(config.Input{Env: config.Env{GOOS: "linux", Getenv: func(string) (string, bool) { return "", false }}})
	for _, ref := range append([]string{placeholder}, favourites...) {
		r, err := cfg.ResolveModel(ref)
		if err != nil {
			t.Fatal(err)
		}
		if dialects[r.Provider.Type] == nil {
			t.Errorf("%s: this build does not speak %s", ref, r.Provider.Type)
		}
		listed := false
		for _, m := range catalog.List(addressOf(r)) {
			listed = listed || m.ID == r.ID && m.Price != nil
		}
		if !listed {
			t.Errorf("%s is not listed on %s", ref, catalog.Date())
		}
	}
}

// TestManualNamesEveryPort keeps the manual's list of who is asked true.
func TestManualNamesEveryPort(t *testing.T) {
	page, err := docs.Pages.ReadFile("getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range local.Usual() {
		if !regexp.MustCompile(regexp.QuoteMeta(p.Usual) + `[^.0-9]* ` + strconv.Itoa(p.Number) + `\b`).Match(page) {
			t.Errorf("getting-started.md does not say that %s is looked for on %d", p.Usual, p.Number)
		}
	}
}

// FuzzFirstConfigurationMeansWhatItNames: whatever name is let through means itself in the file, and
// nothing else is in it.
func FuzzFirstConfigurationMeansWhatItNames(f *testing.F) {
	for _, s := range []string{"qwen3:8b", "hf.co/a/b-GGUF:Q4_K_M", "../m.gguf", `C:\m\n.gguf`, "@cf/meta/llama", "a:b:c", "..", "1", "0x1f", "1e3", "null", "true", ".inf", "/", `\`, "_", "a b", "a'", "${env:HOME}", "*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !local.Plain(name) {
			return
		}
		if config.Shown(name) != name {
			t.Fatalf("%q is shown as %s", name, config.Shown(name))
		}
		o := offer{ref: localName + ":" + name, url: "http://127.0.0.1:11434"}
		env := config.Env{GOOS: "linux", Home: "/home/x", Cwd: "/p", Getenv: func(v string) (string, bool) {
			if v == "OPENAI_BASE_URL" || v == config.KeyVariable(localName) {
				return "", false
			}
			return "secret", true
		}}
		cfg, warnings, err := config.Load(config.Input{Env: env, Sources: []config.Source{{Level: config.User, Kind: config.ConfigFile, Path: "/c.yaml", Dir: "/", Trusted: true, Data: []byte(render(o))}}})
		if err != nil || len(warnings) > 0 || len(cfg.Agents) != 1 || len(cfg.Providers) != 1 || len(cfg.Models) != 0 {
			t.Fatalf("%q: %v %v\n%s", name, err, warnings, render(o))
		}
		a, err := cfg.Agent("default")
		if err != nil || len(a.ModelRefs()) != 1 || len(a.Tools.On) != 2 {
			t.Fatalf("%q: %v %+v", name, err, a)
		}
		r, err := cfg.ResolveModel(a.ModelRefs()[0])
		if err != nil || r.ID != name || r.ProviderName != localName || r.Provider.URL != o.url || r.Key.Reveal() != "none" {
			t.Fatalf("%q: %v, model %q of %q at %q", name, err, r.ID, r.ProviderName, r.Provider.URL)
		}
	})
}

// TestFirstQuestionEndsWithTheProgram: who interrupts has not said no, and nothing is written for them.
func TestFirstQuestionEndsWithTheProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in, out := io.Pipe()
	defer func() { _ = out.Close() }()
	w := World{In: interruptibleReader{ctx, in}, Err: io.Discard}
	if o, err := ask(w, "/c.yaml", []offer{{ref: "a:b"}}); o != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", o, err)
	}
}
