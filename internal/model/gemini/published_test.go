package gemini

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jig/internal/model"
	"jig/internal/msg"
)

// What follows is transcribed from what the API's publisher shows of its streams, spaces and line ends
// included, but for pieces from the middle, which are left out.

// https://github.com/google-gemini/cookbook/blob/053bfa4f54fb06bf6d37c330d2df82c56f6a3e50/quickstarts/rest/Streaming_REST.ipynb:
// every piece says that it is the last.
const cats = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"In the quaint, sunlit cottage nestled amidst a lush meadow, resided two feline\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0,\"safetyRatings\": [{\"category\": \"HARM_CATEGORY_SEXUALLY_EXPLICIT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HATE_SPEECH\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HARASSMENT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_DANGEROUS_CONTENT\",\"probability\": \"NEGLIGIBLE\"}]}],\"promptFeedback\": {\"safetyRatings\": [{\"category\": \"HARM_CATEGORY_SEXUALLY_EXPLICIT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HATE_SPEECH\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HARASSMENT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_DANGEROUS_CONTENT\",\"probability\": \"NEGLIGIBLE\"}]}}\r\n" +
	"\n" +
	"data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \" other and for adventure stronger than ever.\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0,\"safetyRatings\": [{\"category\": \"HARM_CATEGORY_SEXUALLY_EXPLICIT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HATE_SPEECH\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_HARASSMENT\",\"probability\": \"NEGLIGIBLE\"},{\"category\": \"HARM_CATEGORY_DANGEROUS_CONTENT\",\"probability\": \"NEGLIGIBLE\"}]}]}\n" +
	"\n"

// https://github.com/google-gemini/cookbook/blob/053bfa4f54fb06bf6d37c330d2df82c56f6a3e50/quickstarts/rest/Function_calling_REST.ipynb,
// laid out as it is there: one answer that is no stream.
const theaters = `{
  "candidates": [
    {
      "content": {
        "parts": [
          {
            "functionCall": {
              "name": "find_theaters",
              "args": {
                "movie": "Barbie",
                "location": "Mountain View, CA"
              }
            }
          }
        ],
        "role": "model"
      },
      "finishReason": "STOP",
      "index": 0,
      "safetyRatings": [
        {
          "category": "HARM_CATEGORY_HATE_SPEECH",
          "probability": "NEGLIGIBLE"
        },
        {
          "category": "HARM_CATEGORY_DANGEROUS_CONTENT",
          "probability": "NEGLIGIBLE"
        }
      ]
    }
  ],
  "promptFeedback": {
    "safetyRatings": [
      {
        "category": "HARM_CATEGORY_SEXUALLY_EXPLICIT",
        "probability": "NEGLIGIBLE"
      }
    ]
  }
}
`

func TestThePublishedExamplesAreRead(t *testing.T) {
	story := model.Reply{Stop: model.StopEnd, Blocks: msg.Blocks{msg.Text{Text: "In the quaint, sunlit cottage nestled amidst a lush meadow, resided two feline other and for adventure stronger than ever."}}}
	call := model.Reply{Stop: model.StopCalls, Blocks: msg.Blocks{msg.Call{Name: "find_theaters", Args: `{"movie":"Barbie","location":"Mountain View, CA"}`}}}
	for name, c := range map[string]struct {
		kind, body string
		want       model.Reply
	}{
		"a story":              {"text/event-stream", cats, story},
		"a call":               {"application/json", theaters, call},
		"a call, as an event":  {"text/event-stream", "data: " + strings.ReplaceAll(theaters, "\n", "\ndata: ") + "\n\n", call},
		"a call, among others": {"application/json", "[" + theaters + "]", call},
	} {
		got, err := answered(t, 200, c.kind, c.body)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}
