package config

import (
	"slices"

	"jig/internal/nearest"
)

// Toolsets gives the names of the sets that stand for several tools or are configured
// as one.
func Toolsets() []string { return []string{"shell", "code", "skills", "ask", "agents"} }

// HostTools gives the names of the tools that are chosen one by one.
func HostTools() []string {
	return append([]string{"bash", "write", "edit", "view_image", "web", "nook", "history"}, AgentTools()...)
}

// AgentTools gives the five tools that the name agents stands for.
func AgentTools() []string {
	return []string{"spawn_agent", "send_input_to_agent", "wait_for_agents", "list_agents", "interrupt_agent"}
}

// ToolNames gives every name that can stand under tools:.
func ToolNames() []string { return append(Toolsets(), HostTools()...) }

// SubagentTools gives the names a subagent can have.
func SubagentTools() []string {
	return []string{"bash", "write", "edit", "view_image", "web", "history"}
}

// personaTools is what a persona has that does not say.
func personaTools(subagents bool) []string {
	names := []string{"bash", "write", "edit", "view_image", "web", "nook", "history"}
	if subagents {
		names = append(names, AgentTools()...)
	}
	return names
}

// ProviderTypes gives the dialects a provider can speak; each is also a provider of
// that name with default settings.
func ProviderTypes() []string {
	return []string{"openai", "openresponses", "anthropic", "gemini", "replay"}
}

// ReasoningLevels gives the words for how hard a model should think, weakest first.
func ReasoningLevels() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// YAMLBool reads any YAML 1.1 spelling of a boolean, in any case.
func YAMLBool(text string) (value, ok bool) {
	const longest = len("false")
	if len(text) > longest {
		return false, false
	}
	low := nearest.Fold(text)
	switch {
	case low != "" && len(low) != len(text): // fold dropped a dash
		return false, false
	case slices.Contains([]string{"true", "yes", "on", "y"}, low):
		return true, true
	case slices.Contains([]string{"false", "no", "off", "n"}, low):
		return false, true
	}
	return false, false
}
