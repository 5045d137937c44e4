package sandbox

// systemTemp is empty: Windows has no folder for temporary files that all users share.
const systemTemp = ""

// Stamp is constant: without confinement nothing holds a place.
func Stamp(Policy) string { return "" }
