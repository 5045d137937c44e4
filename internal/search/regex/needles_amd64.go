package regex

import "golang.org/x/sys/cpu"

func hasVectors() bool { return cpu.X86.HasAVX2 }

// findWindow returns the first offset below size, a positive multiple of 64, at which
// the bytes agree with the tables, or size. It reads two bytes more than size.
//
//go:noescape
func findWindow(p *byte, size int, nibbles *[6][32]uint8) int
