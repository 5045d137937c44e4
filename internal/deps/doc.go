// Package deps states which package may import which. The statement is a test (deps_test.go), so
// that an import nobody thought about fails the build rather than becoming a habit. It holds no
// code.
package deps
