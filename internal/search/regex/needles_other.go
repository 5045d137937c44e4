//go:build !amd64

package regex

func hasVectors() bool { return false }

func findWindow(*byte, int, *[2 * windowSize][32]uint8) int {
	panic("regex: there are no vectors on this processor")
}
