package config

import "slices"

// Mode is how much of a session an agent has.
type Mode string

const (
	// Chat has neither the project's instructions nor its skills.
	Chat Mode = "chat"
	// AgentMode adds the project's instructions and the skill catalogue.
	AgentMode Mode = "agent"
	// Bot is agent mode in one permanent session.
	Bot Mode = "bot"
)

// Agent is a model, a prompt and tools, whether it was written as an agents: entry or
// as a persona, after everything it extends was taken in.
type Agent struct {
	Entry `key:"-"`
	// the model, as provider:id or the name of a models: entry
	Model string `key:"model"`
	// several models, best first; instead of model
	Models []string `key:"models"`
	// the system prompt
	System string `key:"system"`
	// a file with the system prompt, relative to this file's folder
	SystemFile string `key:"system_file"`
	// the tools the model gets: a list of names, or a mapping from name to settings
	Tools Tools `key:"tools"`
	// chat, agent (project instructions and skills) or bot (agent with one permanent session)
	Mode Mode `key:"mode" want:"chat,agent,bot"`
	// which mcp_servers to use; left out, all
	MCPServers Names `key:"mcp_servers"`
	// which skills to offer: *, or a list; left out, all
	Skills Names `key:"skills"`
	// the subagents it can start, by name; "default: false" removes the built-in one
	Subagents Subagents `key:"subagents"`
	Knobs     `key:"+"`
	// do not store the session
	NoSave bool `key:"no_save"`
	// tell when the terminal is out of sight and something needs attention; default true
	Notify *bool `key:"notify"`
	// what it is for, for people
	Description string `key:"description"`
	// the environments: entry its tools act on; left out, this machine
	Environment string `key:"environment"`
	// the agent or persona whose settings count where this one has none
	Extends string `key:"extends"`

	PersonaKeys `key:"persona"`
	// IsPersona tells that it was written as a persona.
	IsPersona bool `key:"-"`
}

// PersonaKeys are the settings only a persona's front matter can have.
type PersonaKeys struct {
	// the persona's name, equal to the file's
	ID string `key:"id"`
	// the name shown to people
	Label string `key:"label"`
	// the provider, with model as the model's name there
	Provider string `key:"provider"`
	// the reasoning levels a user may choose among
	AllowedReasoningLevels []string `key:"allowed_reasoning_levels" want:"none,minimal,low,medium,high,xhigh,max"`
}

// ModelRefs gives the agent's models, best first; none when it has none of its own.
func (a Agent) ModelRefs() []string {
	if a.Model != "" {
		return []string{a.Model}
	}
	return a.Models
}

// PlainChat tells whether the agent is a model and nothing else: an agents: entry
// without tools, which gets neither the intrinsic tools nor the harness prompt.
func (a Agent) PlainChat() bool { return !a.IsPersona && !a.Tools.Declared }

// Notifies tells whether the agent may call for attention.
func (a Agent) Notifies() bool { return a.Notify == nil || *a.Notify }

// Enabled gives the tools that are on, in the order written, with those that come on
// their own: skills in agent and bot mode, ask in an interactive session.
func (a Agent) Enabled(interactive bool) []Tool {
	list := slices.Clone(a.Tools.On)
	add := func(name string, when bool) {
		if when && !a.Tools.Has(name) && !slices.Contains(a.Tools.Off, name) {
			list = append(list, Tool{Name: name})
		}
	}
	add("skills", a.Mode == AgentMode || a.Mode == Bot)
	add("ask", interactive && !a.IsPersona)
	return list
}

// Unconfined tells whether the agent has a tool that acts with the whole authority of
// its environment, unasked.
func (a Agent) Unconfined() bool {
	return a.Tools.Has("bash") || a.Tools.Has("write") || a.Tools.Has("edit")
}

// Tools is an agent's choice of tools.
type Tools struct {
	// Declared tells whether the agent, or one it extends, has the key.
	Declared bool
	// On are the tools chosen, in the order written, each once; the name agents is
	// already replaced by the five tools it stands for.
	On []Tool
	// Off are the names switched off in so many words.
	Off []string
}

// Has tells whether a tool is on.
func (t Tools) Has(name string) bool {
	return slices.ContainsFunc(t.On, func(x Tool) bool { return x.Name == name })
}

// Tool is one name under tools: with its settings, which only the tool can read.
type Tool struct {
	Name string
	// Group is the name it was written under, where that stands for several; else empty.
	Group string
	// Pos is the place of the name.
	Pos   Pos
	value *node
	env   Env
}

// Names is a choice by name.
type Names struct {
	// Declared tells whether the key is there; without it everything is chosen.
	Declared bool
	// All is the choice of everything in so many words ("*").
	All  bool
	List []string
}

// Takes tells whether the choice includes a name.
func (n Names) Takes(name string) bool {
	return !n.Declared || n.All || slices.Contains(n.List, name)
}

// Subagents is the subagents an agent can start.
type Subagents struct {
	// NoDefault tells that the built-in default subagent was switched off.
	NoDefault bool
	// Defined are the subagents by name.
	Defined map[string]Subagent
}

// Any tells whether there is a subagent to start.
func (s Subagents) Any() bool { return !s.NoDefault || len(s.Defined) > 0 }

// Subagent is a child an agent can start.
type Subagent struct {
	Entry `key:"-"`
	// what it is for, for the model
	Description string `key:"description"`
	// its system prompt
	SystemPrompt string `key:"system_prompt"`
	// its tools, from bash, write, edit, view_image, web, history; left out, those its agent has
	Tools Tools `key:"tools"`
	// the models it may be started with, best first; left out, its agent's
	LaunchModels []string `key:"launch_models"`
}
