// Package shell is the toolset that runs command lines: one tool, shell, with background jobs. It
// decides what a call means (which interpreter, which environment, inside or outside the sandbox,
// for how long anybody waits) and words what the model reads. Starting, watching and ending
// processes is package process; what they run in is package sandbox. It knows nothing of sessions,
// asks nobody for approval itself and reads neither flags nor the environment.
//
// # A call
//
// Every command is a job from its first instant: it has a log file, two bounded ends of output and a
// clock. A foreground call waits for its job; when the job outlasts the yield, the call stops
// waiting and the job gets an id. Nothing changes for the command itself at that moment, so its
// timeout goes on counting from its start. A cancelled call ends its command; a job that was yielded
// belongs to no call any more and ends by itself, by Kill or with the session.
//
// # Output
//
// The log on disk is raw. What a model reads is cleaned while it streams (see cleaner) and cut
// afterwards (see capped), so the cuts count what the model would have read, and no escape sequence
// or rune is ever cut in two.
//
// # Leaving the sandbox
//
// A sandboxed set starts one kind of command line outside: a call of the running program itself. The
// line is parsed here (see parseSimple) and started without an interpreter, so that what was decided
// on is what runs.
//
// # Log files
//
// They are <temp>/jig-jobs/<pid>/b1.log and so on, in a folder that commands may write to as well.
// The folder is therefore held open and files are made in what is held, never through its path: a
// command that puts a link in its place cannot choose where jig writes.
package shell

// Name is the tool's name, on every system and under every interpreter: the description says which
// one reads the command, and a name that said it too could only contradict it.
const Name = "shell"
