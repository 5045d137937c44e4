package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"jig/internal/config"
	"jig/internal/model"
	"jig/internal/model/anthropic"
	"jig/internal/model/endpoint"
	"jig/internal/model/gemini"
	"jig/internal/model/openai"
	"jig/internal/model/openresponses"
	"jig/internal/model/replay"
)

// maxScript bounds a replay script, in bytes.
const maxScript = 64 << 20

// dialects are the provider types this build speaks.
var dialects = map[string]func(r config.Resolved, o endpoint.Options) (model.Model, error){
	"openai": func(_ config.Resolved, o endpoint.Options) (model.Model, error) { return openai.New(o), nil },
	"anthropic": func(_ config.Resolved, o endpoint.Options) (model.Model, error) {
		return anthropic.New(o), nil
	},
	"openresponses": func(_ config.Resolved, o endpoint.Options) (model.Model, error) {
		return openresponses.New(o), nil
	},
	"gemini": func(_ config.Resolved, o endpoint.Options) (model.Model, error) { return gemini.New(o), nil },
	"replay": openReplay,
}

// openModel makes the client of a model. Nothing is contacted.
func openModel(w World, r config.Resolved) (model.Model, error) {
	open := dialects[r.Provider.Type]
	if open == nil {
		return nil, fmt.Errorf("provider %q: the %s dialect is not in this build", r.ProviderName, r.Provider.Type)
	}
	if r.Key == "" && r.Provider.URL == "" && len(r.KeyNames) > 0 {
		return nil, fmt.Errorf("no API key for provider %q: set %s, or providers.%s.key in a config file", r.ProviderName, strings.Join(r.KeyNames, " or "), r.ProviderName)
	}
	o := hasty(w, r.Provider, endpointOptions(r))
	var err error
	if o.Roots, err = roots(w, r.Provider); err != nil {
		return nil, err
	}
	return open(r, o)
}

func endpointOptions(r config.Resolved) endpoint.Options {
	headers := map[string]string{}
	for k, v := range r.Provider.Headers {
		headers[k] = v.Reveal()
	}
	variable := "" // the one that counts, or would: a vendor's own says nothing of a provider with another name
	switch {
	case slices.Contains(r.KeyNames, r.KeySource):
		variable = r.KeySource
	case len(r.KeyNames) > 0:
		variable = r.KeyNames[0]
	}
	return endpoint.Options{Provider: r.ProviderName, URL: r.Provider.URL, Key: r.Key.Reveal(), KeyEnv: variable, Headers: headers, Proxy: http.ProxyFromEnvironment}
}

func openReplay(r config.Resolved, _ endpoint.Options) (model.Model, error) {
	if r.Provider.URL == "" {
		return nil, fmt.Errorf("provider %q plays a script: set providers.%s.url to its path", r.ProviderName, r.ProviderName)
	}
	data, err := readSmall(r.Provider.URL, maxScript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("provider %q: there is no script %s", r.ProviderName, config.Shown(r.Provider.URL))
	}
	if err != nil {
		return nil, fmt.Errorf("provider %q: the script %s cannot be read: %w", r.ProviderName, config.Shown(r.Provider.URL), cause(err))
	}
	m, err := replay.New(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(r.Provider.URL), err)
	}
	return m, nil
}
