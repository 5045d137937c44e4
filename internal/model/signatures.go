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

// Signatures remembers which signed or encrypted reasoning a provider has refused. What vouches for it
// is bound to the account and the platform, and services change what they bind it to, so that reasoning
// which was good yesterday can be refused for ever, and with it every later request of the conversation.
// The zero value is ready; it is safe for concurrent use.
type Signatures struct {
	mu      sync.Mutex
	refused map[[sha256.Size]byte]bool // by the provider's own form of the block
}

// Without leaves out the reasoning that was refused, and what came beside the texts and calls of the
// same messages. A call whose signature is left out gets instead, nil for nothing.
func (s *Signatures) Without(messages []msg.Message, instead []byte) []msg.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) == 0 {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		if out[i].Role == msg.Assistant {
			out[i].Blocks = s.without(out[i].Blocks, instead)
		}
	}
	return out
}

func (s *Signatures) without(blocks msg.Blocks, instead []byte) msg.Blocks {
	out := make(msg.Blocks, 0, len(blocks))
	for _, b := range blocks {
		if s.refused[sha256.Sum256(raw(b))] {
			switch x := b.(type) {
			case msg.Text:
				x.Raw = nil
				b = x
			case msg.Call:
				x.Raw = instead
				b = x
			default:
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// Refused says whether an error is about reasoning of a model and the request may be accepted without
// it, and remembers which: all that the conversation has of the model, as a part of a sequence would be
// refused as well. What the model thinks from now on is not meant.
func (s *Signatures) Refused(model string, messages []msg.Message, err error) bool {
	if !aboutSignatures(err) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil {
		s.refused = map[[sha256.Size]byte]bool{}
	}
	found := false
	for _, m := range messages {
		if m.Role != msg.Assistant || m.Model != model {
			continue
		}
		for _, b := range m.Blocks {
			if r := raw(b); len(r) > 0 && !s.refused[sha256.Sum256(r)] {
				s.refused[sha256.Sum256(r)] = true
				found = true
			}
		}
	}
	return found
}

func raw(b msg.Block) []byte {
	switch b := b.(type) {
	case msg.Text:
		return b.Raw
	case msg.Reasoning:
		return b.Raw
	case msg.Call:
		return b.Raw
	}
	return nil
}

// aboutSignatures says whether a refusal is of reasoning that came back, and not of its lack. The
// wordings were reported from services, and gateways hand those of one dialect on in another:
// https://github.com/anthropics/claude-code/issues/63147
// https://github.com/anomalyco/opencode/issues/6418
// https://github.com/tailcallhq/forgecode/issues/2107
// https://github.com/tailcallhq/forgecode/issues/1853
// https://github.com/linanwx/nagobot/issues/21
// https://github.com/google-gemini/gemini-cli/issues/13467
// https://github.com/diegosouzapw/OmniRoute/issues/1410
// https://github.com/lbjlaq/Antigravity-Manager/pull/3342
// https://github.com/openai/codex/issues/8128
func aboutSignatures(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(e.Text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case has("missing a thought_signature"):
		return false
	case has("thinking") && has("signature", "redacted_thinking", "cannot be modified"):
		return true
	case has("cannot be `thinking`", "cannot be `redacted_thinking`", "final position cannot contain `thinking`"):
		return true
	case has("thought signature", "thought_signature", "thoughtsignature", "reasoning signature"):
		return true
	}
	return has("encrypted content", "encrypted_content") && has("could not be verified", "could not be decrypted")
}
