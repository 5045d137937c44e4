package sandbox

// A seccomp program is a list of classic BPF instructions over this record of the kernel's:
// number at 0, architecture at 4, instruction pointer at 8, six 64-bit arguments from 16.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16

	bpfLoad    = 0x20 // BPF_LD|BPF_W|BPF_ABS
	bpfEqual   = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
	bpfAtLeast = 0x35 // BPF_JMP|BPF_JGE|BPF_K
	bpfAnd     = 0x54 // BPF_ALU|BPF_AND|BPF_K
	bpfReturn  = 0x06 // BPF_RET|BPF_K

	retAllow = 0x7fff0000
	retErrno = 0x00050000 // plus the error number
)

// instruction has the layout of the kernel's sock_filter.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// machine is what the filter must know of an architecture.
type machine struct {
	arch  uint32 // AUDIT_ARCH_*
	x32   uint32 // the bit that marks another numbering on the same architecture; 0: none
	calls map[string]uint32
}

// Socket families, fixed by the kernel for all architectures.
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

// Error and request numbers, the same on amd64 and arm64.
const (
	errPerm     = 1
	errAccess   = 13
	errNoSys    = 38
	errNoFamily = 97

	newControlGroup = 0x02000000         // CLONE_NEWCGROUP
	setUserID       = 0o4000             // S_ISUID
	makesFile       = 0o100 | 0o20000000 // O_CREAT and the bit of O_TMPFILE that is its own

	ioctlPushInput = 0x5412 // TIOCSTI
	ioctlConsole   = 0x541c // TIOCLINUX
)

// filter describes one program.
type filter struct {
	// families lists the socket families that may be opened; nil: all.
	families []uint32
	// truncation refuses what truncates a file without opening it for writing: Landlock learned
	// to see that only in its third version.
	truncation bool
	// limits refuses setting another process's limits: where all processes are in view it takes
	// no more than the same user to end one by its own limits.
	limits bool
	// setuid refuses making files that give whoever runs them the rights of their owner. What root's
	// commands leave in the project would be root's for everybody.
	setuid bool
}

// filterFor gives the filter of a regime.
func filterFor(t Tier, network bool, abi int) filter {
	f := filter{truncation: t == Landlock && abi < 3, limits: t == Landlock}
	switch {
	case network:
	case t == Landlock:
		// nothing but unix sockets: the machine's network is right there, loopback included
		f.families = []uint32{familyUnix}
	default:
		// families that have namespaces. The others reach out of a network namespace, vsock first
		f.families = []uint32{familyUnix, familyInet, familyInet6, familyNetlink}
	}
	return f
}

// assemble writes the program. It refuses, never kills: a program that is refused a call says so,
// one that is killed leaves a riddle.
func (f filter) assemble(m machine) []instruction {
	// Another architecture's calls have other numbers, and its socketcall hides the family behind
	// a pointer: none of them is let through. The same for x32, which shares the architecture.
	p := []instruction{load(offsetArch), {bpfEqual, 1, 0, m.arch}, refuse(errNoSys), load(offsetNumber)}
	if m.x32 != 0 {
		p = append(p, instruction{bpfAtLeast, 0, 1, m.x32}, refuse(errNoSys))
	}
	on := func(call string, body ...instruction) {
		if nr, ok := m.calls[call]; ok { // arm64 has no open
			p = append(p, when(nr, body...)...)
		}
	}
	// io_uring opens sockets and files without a system call a filter could see.
	for _, name := range []string{"io_uring_setup", "io_uring_enter", "io_uring_register"} {
		on(name, refuse(errNoSys))
	}
	// The kernel's keys belong to the login, not to a command.
	for _, name := range []string{"add_key", "request_key", "keyctl"} {
		on(name, refuse(errPerm))
	}
	// Typing into a terminal from outside. The kernel looks at 32 bits of the request: so do we.
	on("ioctl", load(offsetArgs+8),
		instruction{bpfEqual, 1, 0, ioctlPushInput}, instruction{bpfEqual, 0, 1, ioctlConsole}, refuse(errPerm),
		allow)
	// Who is root in a control group namespace of its own mounts the groups, with the one that this
	// program and what started it live in, and ends or freezes them all. clone3 has its flags behind
	// a pointer; programs fall back to clone.
	grouping := func(flags uint32) []instruction { return without(newControlGroup, load(flags)) }
	on("unshare", grouping(offsetArgs)...)
	on("clone", grouping(offsetArgs)...)
	on("setns", grouping(offsetArgs+8)...)
	on("clone3", refuse(errNoSys))
	if f.setuid {
		f.refuseSetuid(on)
	}
	if f.families != nil {
		body := []instruction{load(offsetArgs)}
		for _, family := range f.families {
			body = append(body, when(family, allow)...)
		}
		// programs try exotic families and go on when told there are none
		for _, family := range []uint32{familyInet, familyInet6} {
			body = append(body, when(family, refuse(errPerm))...)
		}
		body = append(body, refuse(errNoFamily))
		on("socket", body...)
		on("socketpair", body...)
	}
	if f.limits {
		body := append([]instruction{load(offsetArgs)}, when(0, allow)...) // its own
		on("prlimit64", append(body, load(offsetArgs+16), instruction{bpfEqual, 0, 2, 0}, load(offsetArgs+20), instruction{bpfEqual, 1, 0, 0},
			refuse(errPerm), allow)...) // nothing to set: it only asks
	}
	if f.truncation {
		on("truncate", refuse(errAccess))
		on("openat2", refuse(errNoSys)) // its flags lie behind a pointer; programs fall back to openat
		on("open", truncating(offsetArgs+8)...)
		on("openat", truncating(offsetArgs+16)...)
	}
	return append(p, allow)
}

// refuseSetuid refuses every call that could set the bit.
func (f filter) refuseSetuid(on func(string, ...instruction)) {
	second, third, fourth := uint32(offsetArgs+8), uint32(offsetArgs+16), uint32(offsetArgs+24)
	for call, mode := range map[string]uint32{"chmod": second, "fchmod": second, "fchmodat": third, "fchmodat2": third,
		"mknod": second, "mknodat": third, "creat": second} {
		on(call, without(setUserID, load(mode))...)
	}
	// The mode counts only where a file is made; else nobody has set it. What follows may look at
	// these calls again, so they are not let through here.
	opening := func(flags, mode uint32) []instruction {
		return []instruction{load(flags), {bpfAnd, 0, 0, makesFile}, {bpfEqual, 4, 0, 0},
			load(mode), {bpfAnd, 0, 0, setUserID}, {bpfEqual, 1, 0, 0}, refuse(errPerm), load(offsetNumber)}
	}
	on("open", opening(second, third)...)
	on("openat", opening(third, fourth)...)
	on("openat2", refuse(errNoSys)) // all of it behind a pointer; programs fall back to openat
}

// without refuses a call whose argument has one of the bits, and else lets it through.
func without(bits uint32, argument instruction) []instruction {
	return []instruction{argument, {bpfAnd, 0, 0, bits}, {bpfEqual, 1, 0, 0}, refuse(errPerm), allow}
}

var allow = instruction{bpfReturn, 0, 0, retAllow}

func load(offset uint32) instruction { return instruction{bpfLoad, 0, 0, offset} }

func refuse(errno uint32) instruction { return instruction{bpfReturn, 0, 0, retErrno | errno} }

// when runs body if the loaded word equals k, and else jumps over it. A body that loads another
// word must return.
func when(k uint32, body ...instruction) []instruction {
	return append([]instruction{{bpfEqual, 0, uint8(len(body)), k}}, body...)
}

// truncating refuses an open that truncates without writing.
func truncating(flags uint32) []instruction {
	const accessMode, truncate = 0x3, 0x200
	body := []instruction{load(flags), {bpfAnd, 0, 0, accessMode | truncate}}
	body = append(body, when(truncate, refuse(errAccess))...)
	body = append(body, when(truncate|accessMode, refuse(errAccess))...)
	return append(body, allow)
}
