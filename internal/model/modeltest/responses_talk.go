package modeltest

import (
	"net/http"
	"slices"
)

// spoken is what the server has given of its own and what has to come back with what.
type spoken struct {
	replies int
	sealed  map[string]string // encrypted reasoning → the id of its item
	follows map[string]string // reasoning → the item it was followed by, "" when there was none
	needs   map[string]string // message or call → the reasoning it was preceded by
}

// give numbers a reply and notes its items.
func (s *spoken) give(r *Reply) {
	s.replies++
	r.number = s.replies
	if s.sealed == nil {
		s.sealed, s.follows, s.needs = map[string]string{}, map[string]string{}, map[string]string{}
	}
	var thoughts []string
	last := ""
	for _, v := range r.responsesItems(true, false) {
		item := v.(object)
		id := item["id"].(string)
		if item["type"] == "reasoning" {
			s.sealed[item["encrypted_content"].(string)] = id
			s.follows[id] = ""
			thoughts, last = append(thoughts, id), id
			continue
		}
		for _, t := range thoughts {
			s.follows[t] = id
		}
		thoughts = nil
		if last != "" {
			s.needs[id] = last
		}
	}
}

// responsesConversation checks the items together.
func (s *Server) responsesConversation(input list, stateless bool) *problem {
	if p := pairs(input); p != nil {
		return p
	}
	var thoughts []string
	for i, v := range input {
		item := v.(object)
		id, _ := item["id"].(string)
		if sortOf(item) == "reasoning" {
			if p := s.thought(item, id, stateless); p != nil {
				return p
			}
			if p := s.led(input[i+1:], id); p != nil {
				return p
			}
			thoughts = append(thoughts, id)
			continue
		}
		// https://github.com/laravel/ai/pull/1052: an id brings its reasoning along.
		if need := s.said.needs[id]; need != "" && !slices.Contains(thoughts, need) {
			return chatProblem("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, sortOf(item), need)
		}
	}
	return nil
}

// thought checks reasoning that comes back: with its encrypted form, unaltered.
// https://github.com/openai/openai-agents-python/issues/919 and
// https://github.com/openai/codex/issues/8128
func (s *Server) thought(item object, id string, stateless bool) *problem {
	sealed, _ := item["encrypted_content"].(string)
	open, _ := item["content"].(list)
	if sealed == "" && len(open) == 0 && stateless {
		return &problem{status: http.StatusNotFound, kind: "invalid_request_error", param: "input", message: "Item with id '" + id + "' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."}
	}
	if sealed != "" && (s.said.sealed[sealed] != id || s.Forgetful) {
		return chatProblem("", "invalid_encrypted_content", "The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", id)
	}
	return nil
}

// led checks that reasoning is followed by the item that it led to:
// https://github.com/continuedev/continue/issues/8933
func (s *Server) led(rest list, id string) *problem {
	lone := chatProblem("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
	for _, v := range rest {
		item := v.(object)
		switch kind := sortOf(item); {
		case kind == "reasoning":
			continue
		case kind == "message" && item["role"] != "assistant", kind == "function_call_output":
			return lone
		}
		want, known := s.said.follows[id]
		if got, _ := item["id"].(string); known && want != got {
			return lone
		}
		return nil
	}
	return lone
}

// pairs checks that every call has its result and every result its call, which comes first:
// https://github.com/router-for-me/CLIProxyAPI/issues/2368 and
// https://github.com/continuedev/continue/issues/10092. That ids are not repeated is asked by
// https://github.com/openai/gpt-oss/pull/309 and by compatible servers, in these words:
// https://github.com/earendil-works/pi/issues/9057
func pairs(input list) *problem {
	var open, known []string
	for _, v := range input {
		item := v.(object)
		id, _ := item["call_id"].(string)
		switch sortOf(item) {
		case "function_call":
			if slices.Contains(known, id) {
				return chatProblem("input", "", "Duplicate 'call_id': %s", id)
			}
			open, known = append(open, id), append(known, id)
		case "function_call_output":
			switch {
			case !slices.Contains(known, id):
				return chatProblem("input", "", "No tool call found for function call output with call_id %s.", id)
			case !slices.Contains(open, id):
				return chatProblem("input", "", "Duplicate function call output with call_id %s.", id)
			}
			open = slices.DeleteFunc(open, func(x string) bool { return x == id })
		}
	}
	if len(open) > 0 {
		return chatProblem("input", "", "No tool output found for function call %s.", open[0])
	}
	return nil
}
