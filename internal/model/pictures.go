package model

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"jig/internal/msg"
)

// Pictures remembers which pictures a provider has refused. A picture stays in the conversation, so
// that one which is too large, or any at all for a model that cannot see, would make every later
// request fail. The zero value is ready; it is safe for concurrent use.
type Pictures struct {
	mu      sync.Mutex
	blind   map[string]bool            // models that take no pictures
	refused map[[sha256.Size]byte]bool // pictures no model of the provider has taken
}

// NoPicture stands for a picture that the provider has refused.
const NoPicture = "(a picture was here, which the model's provider does not take)"

// Without puts words in the place of the pictures that were refused.
func (p *Pictures) Without(model string, messages []msg.Message) []msg.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.blind)+len(p.refused) == 0 {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		out[i].Blocks = p.without(model, out[i].Blocks)
	}
	return out
}

func (p *Pictures) without(model string, blocks msg.Blocks) msg.Blocks {
	out := slices.Clone(blocks)
	for i, b := range out {
		switch b := b.(type) {
		case msg.Image:
			if p.blind[model] || p.refused[sha256.Sum256(b.Data)] {
				out[i] = msg.Text{Text: NoPicture}
			}
		case msg.Result:
			b.Blocks = p.without(model, b.Blocks)
			out[i] = b
		}
	}
	return out
}

// Refused says whether an error is about pictures and the request may be accepted without some of
// them, which it remembers: all of them when the model cannot see, else those that came last, since
// the ones before were taken. tries is how often the request was made; from the fourth time on none
// is kept.
func (p *Pictures) Refused(model string, messages []msg.Message, err error, tries int) bool {
	text := aboutPictures(model, err)
	if text == "" {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.last(model, messages)
	if len(last) == 0 {
		return false
	}
	if blind(text) {
		if p.blind == nil {
			p.blind = map[string]bool{}
		}
		p.blind[model] = true
		return true
	}
	if p.refused == nil {
		p.refused = map[[sha256.Size]byte]bool{}
	}
	for len(last) > 0 {
		for _, i := range last {
			p.refused[sha256.Sum256(i.Data)] = true
		}
		if tries < 4 {
			break
		}
		last = p.last(model, messages)
	}
	return true
}

// last are the pictures of the last message that still has any.
func (p *Pictures) last(model string, messages []msg.Message) []msg.Image {
	var in func(b msg.Blocks) []msg.Image
	in = func(b msg.Blocks) (out []msg.Image) {
		for _, x := range b {
			switch x := x.(type) {
			case msg.Image:
				if !p.blind[model] && !p.refused[sha256.Sum256(x.Data)] {
					out = append(out, x)
				}
			case msg.Result:
				out = append(out, in(x.Blocks)...)
			}
		}
		return out
	}
	for _, m := range slices.Backward(messages) {
		if found := in(m.Blocks); found != nil {
			return found
		}
	}
	return nil
}

// aboutPictures is the text of a refusal that names pictures, in lower case, "" for any other error. The
// model's name, which may be part of an address, is no part of it: some are called after pictures.
func aboutPictures(model string, err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return ""
	}
	text := strings.ToLower(e.Text)
	if model != "" {
		text = strings.ReplaceAll(text, strings.ToLower(model), "")
	}
	for _, w := range []string{"image", "vision", "multimodal", "multi-modal"} {
		if strings.Contains(text, w) {
			return text
		}
	}
	return ""
}

// blind says whether a refusal is of pictures as such. The wordings were reported from services:
// https://github.com/1jehuang/jcode/issues/848, https://github.com/HKUDS/OpenHarness/issues/225,
// https://github.com/cloudflare/cloudflare-os/issues/97, https://github.com/langchain-ai/langchain-google/pull/684
func blind(text string) bool {
	return slices.ContainsFunc([]string{
		"support image", "support vision", "support multimodal", "unknown variant", "expected `text`", "image input is not", "input modality is not",
		"only support text", "only supports text", "only text", "text-only", "not a multimodal", "not multimodal", "vision is not", "no endpoints found",
		"image_url is not supported", "image_url is only supported", "images are not supported", "not support images",
	}, func(s string) bool { return strings.Contains(text, s) })
}
