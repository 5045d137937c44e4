// Package local finds servers on this machine that speak chat completions, by asking the ports that
// such programs use for their list of models. It goes nowhere else: no name is looked up, no proxy
// used, no redirect followed and no key sent. What answers may be anything, so of an answer nothing is
// kept but names made of harmless characters. It decides nothing and remembers nothing.
package local

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Port is a port of 127.0.0.1, and the programs that listen on it unless they are told otherwise.
type Port struct {
	Number int
	Usual  string // "" is not known
}

// Usual are the ports that are asked, the likeliest first. Each is the program's own default:
// https://docs.ollama.com/api/openai-compatibility, https://www.lmstudio.ai/docs/api/openai-api,
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (llamafile, mlx_lm.server and
// LocalAI have the same), https://docs.vllm.ai/en/v0.8.1/serving/openai_compatible_server.html,
// https://jan.ai/docs/local-api, https://github.com/nomic-ai/gpt4all/wiki/Local-API-Server,
// https://github.com/LostRuins/koboldcpp,
// https://docs.sglang.io/docs/advanced_features/server_arguments.md and, of text-generation-webui,
// https://github.com/oobabooga/text-generation-webui (docs, "OpenAI API").
func Usual() []Port {
	return []Port{
		{11434, "Ollama"}, {1234, "LM Studio"}, {8080, "llama.cpp"}, {8000, "vLLM"}, {1337, "Jan"},
		{4891, "GPT4All"}, {5001, "KoboldCpp"}, {30000, "SGLang"}, {5000, "text-generation-webui"},
	}
}

// Server is one that answered.
type Server struct {
	Port   Port
	URL    string   // its base URL
	Models []string // those that may take part in a conversation, in its order; at least one
	Left   int      // how many others it named, which are for something else or have no plain name
}

// What an answer may be.
const (
	maxAnswer = 1 << 20 // bytes
	maxModels = 1000
	maxName   = 200 // bytes
	maxHeader = 32 << 10
)

// Find asks all ports at once and gives those that answered within the limit, in the order of ports.
// Whatever goes wrong with one is no server.
func Find(ctx context.Context, ports []Port, limit time.Duration) []Server {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := &http.Transport{
		DialContext:            (&net.Dialer{}).DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answers := make([]*Server, len(ports))
	var all sync.WaitGroup
	for i, p := range ports {
		all.Go(func() { answers[i] = ask(ctx, client, p) })
	}
	all.Wait()
	transport.CloseIdleConnections()
	var out []Server
	for _, s := range answers {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// ask asks one port for its models; nil is no server.
func ask(ctx context.Context, client *http.Client, p Port) *Server {
	s := &Server{Port: p, URL: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Number))}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/models", nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "jig")
	res, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }() // nothing was written
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || kind != "application/json" {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(data) > maxAnswer {
		return nil
	}
	if s.Models, s.Left = parse(data); s.Models == nil {
		return nil
	}
	return s
}

// parse reads a list of models. One that is not just as it should be has none.
func parse(data []byte) (models []string, left int) {
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &list); err != nil || list.Object != "list" {
		return nil, 0
	}
	seen := map[string]bool{}
	for _, m := range list.Data {
		switch {
		case seen[m.ID]:
		case !Plain(m.ID) || !talks(m.ID) || len(models) == maxModels:
			left++
		default:
			models = append(models, m.ID)
		}
		seen[m.ID] = true
	}
	return models, left
}

// Plain says whether a model's name can stand in a configuration and on a terminal as it is: letters
// and digits of ASCII, and what names and paths are made of besides. A dollar sign is not among it,
// since it could name a variable, nor is a blank, with which a name could read as a sentence.
func Plain(name string) bool {
	const others = `._-:/@+\`
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !word && (strings.IndexByte(others, c) < 0 || i == 0 && strings.IndexByte("-:+", c) >= 0) {
			return false
		}
	}
	return true
}

// talks leaves out what is listed beside the models one can talk to here: those for other purposes,
// and those that a program only passes on to a service, as Ollama does with names that end in cloud:
// https://docs.ollama.com/cloud.
func talks(name string) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, ":cloud") || strings.HasSuffix(name, "-cloud") {
		return false
	}
	for _, word := range []string{"embed", "rerank", "whisper", "bge-", "-tts"} {
		if strings.Contains(name, word) {
			return false
		}
	}
	return true
}
