package anthropic

// MaxOutput is the output limit that is sent to a model where none is asked for, in tokens.
func MaxOutput(model string) int { return parseModel(model).maxTokens() }
