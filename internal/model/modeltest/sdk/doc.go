// Package sdk compares jig's model dialects with the vendors' own Go clients: both talk to the
// same scripted server, and for the same conversation their requests are compared key by key and
// their readings of the same stream side by side.
//
// It is a module of its own, so that the vendors' clients and what they depend on stay out of the
// program. Run it with:
//
//	cd internal/model/modeltest/sdk && go test ./...
package sdk
