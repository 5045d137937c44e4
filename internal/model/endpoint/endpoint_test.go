package endpoint

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"jig/internal/model"
)

func TestBaseURLsJoinOnce(t *testing.T) {
	for base, want := range map[string]string{
		"https://h":                          "https://h/v1/chat/completions",
		"https://h/":                         "https://h/v1/chat/completions",
		"https://h//":                        "https://h/v1/chat/completions",
		"https://h/v1":                       "https://h/v1/chat/completions",
		"https://h/v1/":                      "https://h/v1/chat/completions",
		"https://h/v1///":                    "https://h/v1/chat/completions",
		"https://h/api/paas/v4":              "https://h/api/paas/v4/chat/completions",
		"https://h/llama/v1/":                "https://h/llama/v1/chat/completions",
		"https://h/openai":                   "https://h/openai/chat/completions",
		"http://127.0.0.1:11434":             "http://127.0.0.1:11434/v1/chat/completions",
		"http://[::1]:8080/":                 "http://[::1]:8080/v1/chat/completions",
		"https://h/v1?api-version=2024":      "https://h/v1/chat/completions?api-version=2024",
		"https://h?api-version=2024":         "https://h/v1/chat/completions?api-version=2024",
		"https://h/v1#part":                  "https://h/v1/chat/completions",
		"HTTPS://H/v1":                       "https://H/v1/chat/completions",
		"https://h/deployments/a%2Fb":        "https://h/deployments/a%2Fb/chat/completions",
		"https://user:pass@h/v1":             "https://user:pass@h/v1/chat/completions",
		"":                                   "",
		"h/v1":                               "",
		"localhost:8080":                     "",
		"ftp://h/v1":                         "",
		"https:///v1":                        "",
		"https://h\x7f/":                     "",
		"https://user:hunter22@h:port/v1":    "",
		"://user:hunter22@h/v1?key=hunter22": "",
	} {
		u, err := join(base, "/v1", "/chat/completions")
		var e *model.Error
		switch {
		case want == "" && err == nil:
			t.Errorf("%q gave %s", base, u)
		case want == "" && (!errors.As(err, &e) || e.Kind != model.KindRequest || strings.Contains(err.Error(), "hunter22")):
			t.Errorf("%q: %v", base, err)
		case want != "" && (err != nil || u.String() != want):
			t.Errorf("%q: %v %v, want %s", base, u, err, want)
		}
	}
}

func TestSpacesAroundABaseURLDoNotMatter(t *testing.T) {
	if u, err := join(" https://h/v1\n", "/v1", "/x"); err != nil || u.String() != "https://h/v1/x" {
		t.Errorf("%v %v", u, err)
	}
}

func TestSecretsAreTakenOutOfEveryText(t *testing.T) {
	c := New(Vendor{Base: "https://h"}, Options{Key: "sk-secret-1", Headers: map[string]string{"X-Auth": "Basic dXNlcjpwYXNz", "X-Short": "a"}, URL: "https://me:hunter22@h"}, nil)
	got := c.Errorf(model.KindAuth, "keys sk-secret-1, Basic dXNlcjpwYXNz, dXNlcjpwYXNz and hunter22\nare \x1b[31mshown").Error()
	if want := "keys [secret], [secret], [secret] and [secret] are [31mshown"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSecretsInAProvidersURLAreTakenOutOfEveryText(t *testing.T) {
	const at = "\thttps://token-7788:hunter%2022@h/v1?key=abc%2Bdef%2Fg&api_key=abc%2Bdef%2Fg-longer&lone-token-1"
	c := New(Vendor{Path: "/x"}, Options{URL: at}, nil)
	basic := base64.StdEncoding.EncodeToString([]byte("token-7788:hunter 22"))
	for _, secret := range []string{"token-7788", "hunter 22", "hunter%2022", "abc+def/g", "abc%2Bdef%2Fg", "abc+def/g-longer", "lone-token-1", basic} {
		if got := c.Errorf(model.KindAuth, "you sent %s, %s!", secret, secret).Error(); got != "you sent [secret], [secret]!" {
			t.Errorf("%s: %q", secret, got)
		}
		for name, e := range map[string]*model.Error{
			"refused":   c.refused(&http.Response{StatusCode: http.StatusUnauthorized}, []byte(`{"error":{"message":"bad `+secret+`"}}`)),
			"text":      c.refused(&http.Response{StatusCode: http.StatusInternalServerError}, []byte("no route for /v1/x?key="+secret)),
			"redirect":  c.refused(&http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"/login?back=" + secret}}}, nil),
			"told":      c.Told([]byte(`{"error":"bad ` + secret + `"}`)),
			"not reply": c.notReply(&http.Response{Header: http.Header{"Content-Type": {secret}}}, []byte(secret)),
		} {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
}

func TestAddressesAreShownWithoutUserAndQuery(t *testing.T) {
	for in, want := range map[string]string{
		"https://me:hunter22@h:81/v1/a%2Fb?key=hunter22#hunter22": "https://h:81/v1/a%2Fb",
		"https://h/models/claude@2025?key=hunter22":               "https://h/models/claude@2025",
		"https://me:hunter22@h:port/v1":                           "https://h:port/v1",
		"https://me:x?hunter22@h:port/v1":                         "https://…",
		"https://me:x#hunter22@h":                                 "https://…",
		"h/v1?mail=a@hunter22":                                    "…",
		"://me:hunter22@h/v1?key=hunter22":                        "://h/v1",
		"/v1/?key=hunter22":                                       "/v1/",
		"me:hunter22@h/v1":                                        "h/v1",
	} {
		if got := address(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTheCauseOfAnErrorHoldsNoAddress(t *testing.T) {
	c := New(Vendor{}, Options{URL: "http://127.0.0.1:1/v1?key=hunter22"}, nil)
	defer c.Close()
	for err := c.Ask(context.Background(), nil, nil, nil); err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%T: %v", err, err)
		}
	}
}

func TestTheProxysPasswordIsNotShown(t *testing.T) {
	c := New(Vendor{}, Options{URL: "http://h", Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New(`invalid proxy address "http://me:hunter22@proxy:port": bad port`)
	}}, nil)
	defer c.Close()
	if err := c.Ask(context.Background(), nil, nil, nil); err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "http://proxy:port") {
		t.Error(err)
	}
}

func FuzzComplaintsAreOneLine(f *testing.F) {
	f.Add(500, `{"error":{"message":"x","type":"y","code":5}}`)
	f.Add(404, "<html><TITLE>\u0130</title>")
	f.Add(429, `[{"error":"x"}]`)
	f.Add(500, "\xff http://\xff@x?y")
	f.Add(200, `{"detail":[{"msg":null}]}`)
	c := New(Vendor{Base: "https://h", Path: "/x"}, Options{Key: "sk-secret-1"}, nil)
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := c.refused(&http.Response{StatusCode: status, Header: http.Header{"Location": {body}}}, []byte(body))
		if s := e.Error(); strings.ContainsAny(s, "\n\r\t") || strings.Contains(s, "sk-secret-1") || s == "" || e.Kind == "" || len([]rune(s)) > 600 || !utf8.ValidString(s) {
			t.Errorf("%d %q: %q", status, body, s)
		}
	})
}
