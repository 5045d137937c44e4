package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"jig/internal/config"
	"jig/internal/print"
)

// debug prints what a session would be: where its configuration came from, its model, its tools and
// the prompt. No model is asked.
func debug(w World, o Options) error {
	s, cfg, err := load(w, o)
	if err != nil {
		return err
	}
	p, err := prepare(w, s, cfg, o)
	if err != nil {
		return err
	}
	for _, x := range p.warnings {
		w.warn("%s", x)
	}
	var b bytes.Buffer
	b.WriteString("config:\n")
	for _, src := range s.sources {
		note := ""
		switch {
		case replaced(src, o):
			note = " (-c replaces it)"
		case !src.Trusted:
			note = " (not trusted, ignored)"
		}
		fmt.Fprintf(&b, "  %s%s\n", config.Shown(src.Path), note)
	}
	fmt.Fprintf(&b, "project root: %s\nagent: %s\n", config.Shown(s.root), p.name)
	if p.agent.Pos.Path != "" {
		fmt.Fprintf(&b, "  from %s\n", p.agent.Pos)
	}
	r := p.resolved
	fmt.Fprintf(&b, "model: %s:%s\n  dialect %s, %s\n", r.ProviderName, r.ID, r.Provider.Type, keyNote(r))
	if r.Provider.URL != "" {
		fmt.Fprintf(&b, "  url %s\n", address(r))
	}
	m := p.budget.model
	if m.Window > 0 {
		fmt.Fprintf(&b, "  context window %s\n", windowNote(m.Window))
	}
	if m.Price != nil {
		fmt.Fprintf(&b, "  price for a million tokens %s\n", priceNote(m.Price))
	}
	if len(m.Levels) > 0 {
		fmt.Fprintf(&b, "  reasoning levels %s\n", strings.Join(m.Levels, ", "))
	}
	send := p.turn.Send
	if send.Reasoning != "" {
		fmt.Fprintf(&b, "  reasoning %s\n", send.Reasoning)
	}
	if send.Temperature != nil {
		fmt.Fprintf(&b, "  temperature %g\n", *send.Temperature)
	}
	if send.TopP != nil {
		fmt.Fprintf(&b, "  top_p %g\n", *send.TopP)
	}
	fmt.Fprintf(&b, "tools: %d\n", len(p.turn.Tools.Tools()))
	for _, t := range p.turn.Tools.Tools() {
		var schema bytes.Buffer
		if err := json.Indent(&schema, t.Input, "    ", "  "); err != nil {
			return err
		}
		fmt.Fprintf(&b, "  %s\n    %s\n    %s\n", t.Name, strings.ReplaceAll(t.Doc, "\n", "\n    "), schema.String())
	}
	fmt.Fprintf(&b, "prompt: %d bytes\n%s\n", len(send.System), send.System)
	text := b.String()
	if w.OutTerm {
		text = print.Clean(text)
	}
	_, err = io.WriteString(w.Out, text)
	return err
}
