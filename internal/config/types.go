package config

// Config is the merged configuration. Maps go from an entry's name to the entry of
// the nearest level that has one; entries are replaced whole, never mixed. Personas
// are among the agents.
type Config struct {
	Providers    map[string]Provider    `key:"providers"`    // where models are reached
	Models       map[string]Model       `key:"models"`       // named models with their settings
	Agents       map[string]Agent       `key:"agents"`       // agents by name
	MCPServers   map[string]MCPServer   `key:"mcp_servers"`  // servers that bring tools over the Model Context Protocol
	Keys         map[string]Secret      `key:"keys"`         // keys of services such as exa and mistral; an environment variable such as EXA_API_KEY goes first
	Web          Web                    `key:"web"`          // settings of the web tool
	Nook         Nook                   `key:"nook"`         // the mini-app platform to publish to
	History      History                `key:"history"`      // a history shared by several machines
	Environments map[string]Environment `key:"environments"` // machines that tools can act on
	ClientTools  map[string]ClientTool  `key:"client_tools"` // commands offered to the model as tools; from the user level and -c alone

	// LeftOut lists the sources that did not count, and why.
	LeftOut []LeftOut `key:"-"`
	// Unset lists settings that name an environment variable which is not set. It is
	// apart from the warnings because a key that nobody uses today is no news.
	Unset []Warning `key:"-"`

	env Env
	// where is the place of each key that stands in a map of plain values (keys, web,
	// nook, history), by coordinate.
	where map[string]Pos
}

// LeftOut is a source that did not count.
type LeftOut struct {
	Path  string
	Level Level
	Why   string
}

// Entry is what every named entry carries besides its settings.
type Entry struct {
	// Name is the entry's key in its map.
	Name string
	// Pos is where the entry begins.
	Pos   Pos
	Level Level

	at    map[string]Pos
	unset map[string][]string
	bad   map[string]bool // keys whose value was refused
	dir   string
	rank  int
}

// At gives the place of one of the entry's own keys, or of the entry when the key is
// not written there.
func (e Entry) At(key string) Pos {
	if p, ok := e.at[key]; ok {
		return p
	}
	return e.Pos
}

// Has tells whether the entry itself writes the key.
func (e Entry) Has(key string) bool { _, ok := e.at[key]; return ok }

// Unset names the environment variables a key asked for that were not set.
func (e Entry) Unset(key string) []string { return e.unset[key] }

// Provider is a place where models are reached.
type Provider struct {
	Entry `key:"-"`
	// the dialect spoken there; left out, it is the entry's name
	Type string `key:"type" want:"openai,openresponses,anthropic,gemini,replay"`
	// the address, http or https; for replay the path of the script
	URL string `key:"url"`
	// the key to send when no environment variable gives one
	Key Secret `key:"key"`
	// further HTTP headers to send
	Headers map[string]Secret `key:"headers"`
	// how many seconds an answer may send nothing before the request is given up; 0 is for ever,
	// left out it is 300
	IdleTimeout *float64 `key:"idle_timeout" range:"0,86400"`
}

// Knobs are the settings that a model and an agent can both have; an agent's go
// first. Zero values and nil mean "not set".
type Knobs struct {
	// how many tokens the model can take in: a number, or one with k or m
	ContextWindow Tokens `key:"context_window"`
	// how hard the model should think
	Reasoning string `key:"reasoning" want:"none,minimal,low,medium,high,xhigh,max"`
	// sampling temperature
	Temperature *float64 `key:"temperature" range:"0,2"`
	// nucleus sampling
	TopP *float64 `key:"top_p" range:"0,1"`
}

// Tokens is a number of tokens.
type Tokens int

// Model is a named model.
type Model struct {
	Entry `key:"-"`
	// the provider; left out, it is the entry's name
	Provider string `key:"provider"`
	// the model's name at the provider
	ID    string `key:"id"`
	Knobs `key:"+"`
	// what the model costs
	Price *Price `key:"price"`
}

// Price is in US dollars for a million tokens.
type Price struct {
	// fresh input
	Input float64 `key:"input" range:"0,1000000"`
	// output
	Output float64 `key:"output" range:"0,1000000"`
	// input read from the provider's cache; left out, the price of input
	CacheRead *float64 `key:"cache_read" range:"0,1000000"`
	// input written to the provider's cache; left out, the price of input
	CacheWrite *float64 `key:"cache_write" range:"0,1000000"`
}

// MCPServer is a server of tools: a command spoken to over stdio, or a URL.
type MCPServer struct {
	Entry `key:"-"`
	// the program to start (from the user level and -c alone)
	Command string `key:"command"`
	// its arguments
	Args []string `key:"args"`
	// its additional environment variables
	Env map[string]Secret `key:"env"`
	// the server's address, http or https
	URL string `key:"url"`
	// further HTTP headers to send
	Headers map[string]Secret `key:"headers"`
	// how to log in
	Auth string `key:"auth" want:"auto,oauth,none"`
	// the OAuth client to be
	ClientID string `key:"client_id"`
	// its secret
	ClientSecret Secret `key:"client_secret"`
	// the loopback port OAuth comes back to
	RedirectPort int `key:"redirect_port" range:"1,65535"`
	// one line about the server's tools; with it their schemas are loaded on demand
	Defer string `key:"defer"`
}

// Web is the web tool's settings.
type Web struct {
	// address of a SearXNG instance to search with
	Searxng string `key:"searxng"`
	// reach addresses of the local network too
	AllowPrivate bool `key:"allow_private"`
}

// Nook is the mini-app platform to publish to. URL and token belong together, so the
// nearest level that has a nook replaces both.
type Nook struct {
	// the platform's address
	URL string `key:"url"`
	// the token to log in with
	Token Secret `key:"token"`
}

// History is a history shared by several machines, merged like Nook.
type History struct {
	// the collection's address
	URL string `key:"url"`
	// the token to log in with
	Token Secret `key:"token"`
}

// Environment is a machine that tools can act on.
type Environment struct {
	Entry `key:"-"`
	// the command that reaches it, a list of words or one text without quotes; left out, this machine
	Command Words `key:"command"`
	// the folder to work in there
	Cwd string `key:"cwd"`
	// environment variables for the commands run there; of local, which is this machine and needs no command, for those run here
	Env map[string]Secret `key:"env"`
	// confine bash, write and edit there
	Sandbox string `key:"sandbox" want:"auto,off"`
}

// Words is a command line that is already split.
type Words []string

// ClientTool is a command offered to the model as a tool.
type ClientTool struct {
	Entry `key:"-"`
	// what the model reads about it
	Description string `key:"description"`
	// JSON schema of its arguments, an object
	Parameters map[string]any `key:"parameters"`
	// the program to start
	Command string `key:"command"`
	// its arguments
	Args []string `key:"args"`
	// whether it is on unless a project switches it off; default true
	DefaultEnabled *bool `key:"default_enabled"`
	// how long a call may take, in milliseconds; default 60000
	ExecutionTimeoutMS int `key:"execution_timeout_ms" range:"1,86400000"`
}
