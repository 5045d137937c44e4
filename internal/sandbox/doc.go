// Package sandbox decides what a session's init runs in: the system's confinement, one backend a
// file, and the ladder that finds the strongest one that works on this machine.
//
// A backend confines the init once, before the first command; every command is a child of the init
// and inherits what it runs in, so a call costs no more than its own start. The package knows no
// tool, asks nobody for approval and does not supervise processes: that is package process.
//
// The four regimes of Linux, strongest first, are the Tier constants. What each one stops, and what
// it does not, is the table Dangers; the manual prints it and the tests hold every tier to its row.
package sandbox
