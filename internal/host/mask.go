package host

import (
	"jig/internal/msg"
	"jig/internal/proto"
	"jig/internal/tool"
)

// masked takes the keys out of what enters the log: whoever reads it later, the model and its provider
// among them, then needs no mask of their own. What the model itself said stays as it is, since it may
// have been signed so, and it was shown no key.
func (s *seat) masked(facts []proto.Fact) []proto.Fact { return Masked(s.setup.Mask, facts) }

// Masked does so with facts that come from elsewhere, such as a file. With a nil mask they stay as they are.
func Masked(mask func(string) string, facts []proto.Fact) []proto.Fact {
	if mask == nil {
		return facts
	}
	out := make([]proto.Fact, len(facts))
	for i, f := range facts {
		switch f := f.(type) {
		case proto.Closed:
			f.Result.Blocks = maskBlocks(mask, f.Result.Blocks)
			f.Result.Card = maskCard(mask, f.Result.Card)
			f.Result.Label = mask(f.Result.Label)
			f.Cause = mask(f.Cause)
			out[i] = f
		case proto.Said:
			if f.Message.Role == msg.User {
				f.Message.Blocks = maskBlocks(mask, f.Message.Blocks)
			}
			out[i] = f
		case proto.Compacted: // nothing of it is signed
			f.Summary.Blocks = maskBlocks(mask, f.Summary.Blocks)
			out[i] = f
		case proto.Opened:
			f.Plan.Title = mask(f.Plan.Title)
			f.Plan.Ask = maskQuestion(mask, f.Plan.Ask)
			out[i] = f
		case proto.Asked:
			f.Question = *maskQuestion(mask, &f.Question)
			out[i] = f
		case proto.Goal:
			f.Objective, f.Why = mask(f.Objective), mask(f.Why)
			out[i] = f
		case proto.Titled:
			f.Title = mask(f.Title)
			out[i] = f
		case proto.Ended:
			f.Error, f.Note, f.What = mask(f.Error), mask(f.Note), mask(f.What)
			out[i] = f
		default:
			out[i] = f
		}
	}
	return out
}

func maskBlocks(mask func(string) string, blocks msg.Blocks) msg.Blocks {
	out := make(msg.Blocks, len(blocks))
	for i, b := range blocks {
		if t, ok := b.(msg.Text); ok {
			t.Text = mask(t.Text)
			b = t
		}
		out[i] = b
	}
	return out
}

func maskCard(mask func(string) string, c *tool.Card) *tool.Card {
	if c == nil {
		return nil
	}
	m := *c
	m.Title, m.Text = mask(m.Title), mask(m.Text)
	return &m
}

// maskQuestion also covers the diff of an edit, which shows what stood in the file.
func maskQuestion(mask func(string) string, q *tool.Question) *tool.Question {
	if q == nil {
		return nil
	}
	m := *q
	m.Text, m.Covers, m.Refusal, m.Card = mask(m.Text), mask(m.Covers), mask(m.Refusal), maskCard(mask, m.Card)
	return &m
}
