package sandbox

import (
	"fmt"
	"strings"
)

// Verdict is what a tier does about a danger.
type Verdict string

// The verdicts.
const (
	Stopped Verdict = "stopped"
	Open    Verdict = "open" // not stopped
)

// Danger is a row of the manual's table. The tests attempt every row in every tier: no tier may do
// less than its row says.
type Danger struct {
	ID   string // names the row in tests
	What string
	// What each tier does about it.
	Bwrap, Namespaces, Landlock Verdict
	// Note explains a difference between the tiers, or what an old kernel lacks.
	Note string
}

// In gives the row's verdict for a tier. Without confinement everything is open.
func (d Danger) In(t Tier) Verdict {
	switch t {
	case Bwrap:
		return d.Bwrap
	case Namespaces:
		return d.Namespaces
	case Landlock:
		return d.Landlock
	}
	return Open
}

// Dangers is the table of what the Linux tiers stop.
func Dangers() []Danger {
	return []Danger{
		{"write", "creating, changing, emptying or removing files outside the writable places", Stopped, Stopped, Stopped, ""},
		{"links", "the same through symbolic links, hard links or renaming", Stopped, Stopped, Stopped, ""},
		{"places", "turning a writable place into a link to another one, for the next command or session", Stopped, Stopped, Stopped, ""},
		{"metadata", "changing mode, owner, times or attributes of files outside", Stopped, Stopped, Open,
			"Landlock does not look at them; commands still change only what their user may"},
		{"fifo", "writing into named pipes outside", Open, Stopped, Stopped,
			"a read-only mount does not refuse it, and Landlock in bwrap would end nested sandboxes"},
		{"mount", "mounting, remounting or unmounting, also as root and in a user namespace", Stopped, Stopped, Stopped, ""},
		{"git", "hooks and configuration of a git directory shared with other checkouts", Stopped, Stopped, Stopped,
			"landlock opens only a worktree's own directory and the shared objects, refs and logs, so commit and rebase work there, deleting a branch and gc do not; the directory of a submodule, which is its root's alone, it opens whole"},
		{"settings", "settings of the machine in /proc and /sys", Stopped, Stopped, Stopped, ""},
		{"devices", "writing to disks and other devices", Stopped, Stopped, Stopped, ""},
		{"disks", "reading disks and other devices the user may read", Stopped, Stopped, Open, "reading is not confined without mounts"},
		{"network", "the network, the machine's own localhost and name servers included", Stopped, Stopped, Stopped, "open with network: true"},
		{"families", "other socket families that reach out: vsock, packet, bluetooth …", Stopped, Stopped, Stopped, "open with network: true"},
		{"abstract", "abstract unix sockets of programs outside", Stopped, Stopped, Stopped,
			"from Linux 6.12 on; before that bwrap and namespaces stop them unless network: true, landlock does not"},
		{"run-sockets", "unix sockets under /run: docker, D-Bus, systemd", Stopped, Stopped, Open, "Landlock cannot refuse a socket by its path"},
		{"tmp-sockets", "unix sockets in /tmp and known places of the home directory: tmux, ssh and gpg agents, X11", Stopped, Stopped, Open,
			"those there when the session's first command starts"},
		{"other-sockets", "unix sockets of other programs anywhere else", Open, Open, Open, ""},
		{"signals", "signals to processes outside", Stopped, Stopped, Stopped, "landlock: from Linux 6.12 on"},
		{"trace", "tracing processes outside, reading or writing their memory", Stopped, Stopped, Stopped, ""},
		{"environ", "environment, files and descriptors of processes outside, through /proc", Stopped, Stopped, Stopped, ""},
		{"init", "environment, memory and descriptors of the process that starts the commands", Stopped, Stopped, Stopped, ""},
		{"limits", "limits of processes outside", Stopped, Stopped, Stopped, ""},
		{"priority", "priority and processors of processes outside", Stopped, Stopped, Open, ""},
		{"end-init", "ending the process that starts the commands", Stopped, Stopped, Open, "it ends the session's commands with it"},
		{"processes", "seeing which processes run outside, with their command lines", Stopped, Stopped, Open, ""},
		{"shared-memory", "shared memory and message queues of programs outside", Stopped, Stopped, Open, ""},
		{"capabilities", "capabilities, also as root", Stopped, Stopped, Stopped, ""},
		{"setuid", "gaining another user's rights through setuid programs", Stopped, Stopped, Stopped, ""},
		{"setuid-files", "leaving setuid programs of root's behind, as root", Stopped, Stopped, Stopped, "other users' commands can leave theirs, as those users can"},
		{"descriptors", "files that were open in jig or in what started it", Stopped, Stopped, Stopped, ""},
		{"terminal", "typing into the terminal or writing to it", Stopped, Stopped, Stopped, ""},
		{"keys", "the kernel's key rings", Stopped, Stopped, Stopped, ""},
		{"io-uring", "system calls through io_uring, past the filter", Stopped, Stopped, Stopped, ""},
		{"foreign-calls", "system calls of another architecture, past the filter", Stopped, Stopped, Stopped, ""},
		{"groups", "ending or freezing what runs outside through its control group", Stopped, Stopped, Stopped, ""},
		{"locks", "locks and leases on files outside, which other programs may wait for", Open, Open, Open, "they take no more than reading"},
		{"reading", "reading any file the user may read", Open, Open, Open, ""},
		{"resources", "using up memory, processors or disk", Open, Open, Open, ""},
	}
}

// Cost is a row of the manual's second table: what a tier takes from honest programs.
type Cost struct {
	What                              string
	Bwrap, Namespaces, Landlock, None string
}

// Costs is the table of what the Linux tiers cost.
func Costs() []Cost {
	return []Cost{
		{"needs", "bubblewrap and what it needs", "user namespaces and Landlock", "Landlock", "approval of every call"},
		{"first command of a session, beside the others", "two program starts and bubblewrap", "two program starts", "two program starts", "one program start"},
		{"every further command", "nothing", "nothing", "nothing", "nothing"},
		{"servers on localhost, between commands", "work", "work", "only with network: true", "work"},
		{"unix sockets inside", "work", "work", "work", "work"},
		{"pseudo-terminals (script, expect)", "work", "work", "do not", "work"},
		{"sandboxes inside (browsers, bwrap)", "work, but for root and without a control group namespace (bwrap --unshare-all)", "user namespaces, no mounts; not for root", "do not", "work"},
		{"setuid bits on new files, as root", "refused", "refused", "refused", "work"},
		{"sudo and other setuid programs", "do not", "do not", "do not", "work"},
		{"32-bit programs on a 64-bit machine", "do not", "do not", "do not", "work"},
		{"what the machine mounts during a session", "is not seen", "is not seen", "is seen", "is seen"},
	}
}

// Markdown prints both tables for the manual.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| what a command might try | bwrap | namespaces | landlock | none | |\n|---|---|---|---|---|---|\n")
	for _, d := range Dangers() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", d.What, d.Bwrap, d.Namespaces, d.Landlock, d.In(None), d.Note)
	}
	b.WriteString("\n| what it costs | bwrap | namespaces | landlock | none |\n|---|---|---|---|---|\n")
	for _, c := range Costs() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.What, c.Bwrap, c.Namespaces, c.Landlock, c.None)
	}
	return b.String()
}
