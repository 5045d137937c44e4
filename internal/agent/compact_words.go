package agent

import (
	"fmt"
	"strings"

	"jig/internal/msg"
	"jig/internal/session"
)

// fromJig begins what the user's side says and nobody typed.
const fromJig = "[notice from jig; the user did not write this]\n"

// wanted asks for a summary of at most so many words. It comes after the conversation, which is sent as
// it always was, so that the provider finds it in its cache.
func wanted(words int, guidance string, again bool) msg.Message {
	var b strings.Builder
	fmt.Fprintf(&b, `%sThe conversation above has become too long for your context window. Write a summary of it now. The summary takes its place: whoever goes on with the work will have read that and nothing else of what is above.

Write down, as far as they exist:
- what the user wants, in the user's own words where these matter, with every limit and wish that still holds
- what was done, with the exact names of files, functions, commands, addresses and ids, and what came of it
- what was decided and why, and what was tried and did not work
- what goes on in the background
- what is unfinished, and the very next step

State facts only. Do not go on with the work, ask nothing and call no tool: answer with the summary alone, in at most %d words.`, fromJig, words)
	if guidance = strings.TrimSpace(guidance); guidance != "" {
		fmt.Fprintf(&b, "\n\nThe user asks of this summary:\n%s", guidance)
	}
	if again {
		b.WriteString("\n\nThe first answer to this was of no use, since it was too long, empty or a call of a tool. Answer with plain text, and be brief.")
	}
	return msg.Say(msg.User, b.String())
}

// standsFor is the message in the place of what was summed up.
func standsFor(summary, archive string, st session.State) msg.Message {
	var b strings.Builder
	b.WriteString(fromJig)
	b.WriteString("The older part of this conversation did not fit your context window any more. The summary below stands in its place; what comes after it is as it was said.")
	if archive != "" {
		fmt.Fprintf(&b, " The full text of the older part is in %s: look there, by searching it rather than reading all of it, when you need an exact detail.", archive)
	}
	if st.Date != "" && st.Date != st.Began.Date {
		fmt.Fprintf(&b, " The date is now %s.", st.Date)
	}
	for i, j := range st.Jobs {
		if i == 0 {
			b.WriteString(" Running in the background:")
		}
		fmt.Fprintf(&b, " [%s] %s", j.ID, j.Label)
	}
	fmt.Fprintf(&b, "\n\n<summary>\n%s\n</summary>", strings.TrimSpace(summary))
	return msg.Say(msg.User, b.String())
}

// transcript is a conversation as plain text. What a provider alone can read of it is left out.
func transcript(messages []msg.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, x := range m.Blocks {
			switch x := x.(type) {
			case msg.Text:
				fmt.Fprintf(&b, "=== %s\n%s\n\n", m.Role, x.Text)
			case msg.Image:
				fmt.Fprintf(&b, "=== %s: a picture (%s, %d bytes)\n\n", m.Role, x.MIME, len(x.Data))
			case msg.Reasoning:
				if x.Text != "" {
					fmt.Fprintf(&b, "=== %s, thinking\n%s\n\n", m.Role, x.Text)
				}
			case msg.Call:
				fmt.Fprintf(&b, "=== %s: %s calls %s\n%s\n\n", m.Role, x.ID, x.Name, x.Args)
			case msg.Result:
				failed := ""
				if x.Failed {
					failed = " (failed)"
				}
				fmt.Fprintf(&b, "=== result of %s%s\n%s\n\n", x.Call, failed, x.Blocks.Text())
			}
		}
	}
	return b.String()
}

// advice is what to do about a conversation that is too long and stays so.
const advice = `start a new session, use a model with a larger context window, sum it up with words of your own (jig resume ID --compact="…") or go back to before it grew (jig resume ID --rewind N)`
