package sandbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// call is what the kernel shows a filter.
type call struct {
	arch, number uint32
	args         [6]uint64
}

func (c call) word(offset uint32) uint32 {
	switch {
	case offset == offsetNumber:
		return c.number
	case offset == offsetArch:
		return c.arch
	case offset >= offsetArgs && offset < offsetArgs+48:
		a := c.args[(offset-offsetArgs)/8]
		if (offset-offsetArgs)%8 == 4 {
			return uint32(a >> 32)
		}
		return uint32(a)
	}
	panic("a load the kernel would refuse")
}

// run interprets a program as the kernel does.
func run(t *testing.T, p []instruction, c call) uint32 {
	t.Helper()
	var acc uint32
	for at := 0; ; at++ {
		if at >= len(p) {
			t.Fatal("the program runs over its end")
		}
		i := p[at]
		jump := func(yes bool) {
			if yes {
				at += int(i.jt)
			} else {
				at += int(i.jf)
			}
		}
		switch i.code {
		case bpfLoad:
			acc = c.word(i.k)
		case bpfAnd:
			acc &= i.k
		case bpfEqual:
			jump(acc == i.k)
		case bpfAtLeast:
			jump(acc >= i.k)
		case bpfReturn:
			return i.k
		default:
			t.Fatalf("instruction %#x", i.code)
		}
	}
}

var machines = map[string]machine{
	"amd64": {arch: unix.AUDIT_ARCH_X86_64, x32: 0x40000000, calls: map[string]uint32{
		"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "add_key": 248, "request_key": 249, "keyctl": 250,
		"prlimit64": 302, "ioctl": 16, "socket": 41, "socketpair": 53, "truncate": 76, "open": 2, "openat": 257, "openat2": 437,
		"unshare": 272, "clone": 56, "clone3": 435, "setns": 308, "creat": 85, "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452,
		"mknod": 133, "mknodat": 259}},
	"arm64": {arch: unix.AUDIT_ARCH_AARCH64, calls: map[string]uint32{
		"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "add_key": 217, "request_key": 218, "keyctl": 219,
		"prlimit64": 261, "ioctl": 29, "socket": 198, "socketpair": 199, "truncate": 45, "openat": 56, "openat2": 437,
		"unshare": 97, "clone": 220, "clone3": 435, "setns": 268, "fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "mknodat": 33}},
}

func TestThisMachinesNumbersAreTheKernels(t *testing.T) {
	m, ok := filters()
	if !ok {
		t.Fatal("no filter for this architecture")
	}
	want := machines["amd64"]
	if m.arch == unix.AUDIT_ARCH_AARCH64 {
		want = machines["arm64"]
	}
	for name, nr := range want.calls {
		if m.calls[name] != nr {
			t.Errorf("%s is %d, got %d", name, nr, m.calls[name])
		}
	}
	if len(m.calls) != len(want.calls) || m.x32 != want.x32 || m.arch != want.arch {
		t.Errorf("%+v", m)
	}
}

func TestTheFilterRefusesWhatReachesOut(t *testing.T) {
	const allow = retAllow
	no := func(errno uint32) uint32 { return retErrno | errno }
	for arch, m := range machines {
		closed := filterFor(Landlock, false, 7).assemble(m)
		spaces := filterFor(Namespaces, false, 7).assemble(m)
		open := filterFor(Bwrap, true, 7).assemble(m)
		on := func(name string, args ...uint64) call {
			c := call{arch: m.arch, number: m.calls[name]}
			copy(c.args[:], args)
			return c
		}
		high := uint64(1) << 32
		for _, x := range []struct {
			what                 string
			c                    call
			closed, spaces, open uint32
		}{
			{"a unix socket", on("socket", 1), allow, allow, allow},
			{"a pair of unix sockets", on("socketpair", 1), allow, allow, allow},
			{"inet", on("socket", 2), no(errPerm), allow, allow},
			{"inet with rubbish above 32 bits", on("socket", 2|high), no(errPerm), allow, allow},
			{"unix with rubbish above 32 bits", on("socket", 1|high), allow, allow, allow},
			{"inet6", on("socket", 10), no(errPerm), allow, allow},
			{"netlink", on("socket", 16), no(errNoFamily), allow, allow},
			{"packet", on("socket", 17), no(errNoFamily), no(errNoFamily), allow},
			{"vsock", on("socket", 40), no(errNoFamily), no(errNoFamily), allow},
			{"a pair of another family", on("socketpair", 30), no(errNoFamily), no(errNoFamily), allow},
			{"io_uring", on("io_uring_setup"), no(errNoSys), no(errNoSys), no(errNoSys)},
			{"io_uring", on("io_uring_enter"), no(errNoSys), no(errNoSys), no(errNoSys)},
			{"io_uring", on("io_uring_register"), no(errNoSys), no(errNoSys), no(errNoSys)},
			{"keys", on("keyctl"), no(errPerm), no(errPerm), no(errPerm)},
			{"keys", on("add_key"), no(errPerm), no(errPerm), no(errPerm)},
			{"keys", on("request_key"), no(errPerm), no(errPerm), no(errPerm)},
			{"typing into a terminal", on("ioctl", 0, 0x5412), no(errPerm), no(errPerm), no(errPerm)},
			{"typing, hidden by rubbish", on("ioctl", 0, 0x5412|high), no(errPerm), no(errPerm), no(errPerm)},
			{"the console", on("ioctl", 0, 0x541c), no(errPerm), no(errPerm), no(errPerm)},
			{"a terminal's size", on("ioctl", 0, 0x5413), allow, allow, allow},
			{"truncate", on("truncate"), allow, allow, allow},
			{"openat", on("openat", 0, 0, 0x200), allow, allow, allow},
			{"its own limits", on("prlimit64", 0, 7, 0x7fff00001000), allow, allow, allow},
			{"another's limits", on("prlimit64", 4711, 7, 0x7fff00001000), no(errPerm), allow, allow},
			{"another's limits, from a page's beginning", on("prlimit64", 4711, 7, 1<<32), no(errPerm), allow, allow},
			{"asking for another's limits", on("prlimit64", 4711, 7, 0, 0x7fff00001000), allow, allow, allow},
			{"a thread", on("clone", 0x3d0f00), allow, allow, allow},
			{"a sandbox's namespaces", on("clone", 0x7c020011&^0x02000000), allow, allow, allow},
			{"with a control group namespace", on("clone", 0x7c020011|0x02000000), no(errPerm), no(errPerm), no(errPerm)},
			{"a user namespace", on("unshare", 0x10000000), allow, allow, allow},
			{"a control group namespace", on("unshare", 0x12020000), no(errPerm), no(errPerm), no(errPerm)},
			{"a control group namespace, hidden by rubbish", on("unshare", 0x02000000|high), no(errPerm), no(errPerm), no(errPerm)},
			{"joining one", on("setns", 3, 0x02000000), no(errPerm), no(errPerm), no(errPerm)},
			{"joining a mount namespace", on("setns", 3, 0x00020000), allow, allow, allow},
			{"flags behind a pointer", on("clone3", 0x7fff00001000), no(errNoSys), no(errNoSys), no(errNoSys)},
			{"a user's own setuid program", on("fchmodat", 0, 0, 0o4755), allow, allow, allow},
			{"another architecture", call{arch: 0x40000003, number: 102}, no(errNoSys), no(errNoSys), no(errNoSys)},
		} {
			for name, p := range map[string][2]any{"closed": {closed, x.closed}, "namespaces": {spaces, x.spaces}, "open": {open, x.open}} {
				if got, want := run(t, p[0].([]instruction), x.c), p[1].(uint32); got != want {
					t.Errorf("%s, %s, %s: %#x, want %#x", arch, name, x.what, got, want)
				}
			}
		}
		if m.x32 != 0 {
			if got := run(t, closed, call{arch: m.arch, number: m.x32 | 41, args: [6]uint64{2}}); got != no(errNoSys) {
				t.Errorf("%s: an x32 socket: %#x", arch, got)
			}
		}
	}
}

func TestOldKernelsTruncateNothingOutside(t *testing.T) {
	for arch, m := range machines {
		p := filterFor(Landlock, true, 2).assemble(m)
		flags := func(f uint64) []uint64 { return []uint64{0, f, f} }
		openat := func(f uint64) call {
			return call{arch: m.arch, number: m.calls["openat"], args: [6]uint64{0, 0, f}}
		}
		for _, x := range []struct {
			what  string
			flags uint64
			want  uint32
		}{
			{"read", unix.O_RDONLY, retAllow},
			{"write and truncate, which Landlock sees", unix.O_WRONLY | unix.O_TRUNC | unix.O_CREAT, retAllow},
			{"read, write and truncate", unix.O_RDWR | unix.O_TRUNC, retAllow},
			{"read and truncate", unix.O_RDONLY | unix.O_TRUNC, retErrno | errAccess},
			{"neither, and truncate", 3 | unix.O_TRUNC | unix.O_CLOEXEC, retErrno | errAccess},
		} {
			if got := run(t, p, openat(x.flags)); got != x.want {
				t.Errorf("%s, openat, %s: %#x", arch, x.what, got)
			}
			if nr, ok := m.calls["open"]; ok {
				c := call{arch: m.arch, number: nr}
				copy(c.args[:], flags(x.flags))
				if got := run(t, p, c); got != x.want {
					t.Errorf("%s, open, %s: %#x", arch, x.what, got)
				}
			}
		}
		if got := run(t, p, call{arch: m.arch, number: m.calls["truncate"]}); got != retErrno|errAccess {
			t.Errorf("%s, truncate: %#x", arch, got)
		}
		if got := run(t, p, call{arch: m.arch, number: m.calls["openat2"]}); got != retErrno|errNoSys {
			t.Errorf("%s, openat2: %#x", arch, got)
		}
	}
}

func TestRootMakesNoSetuidPrograms(t *testing.T) {
	for arch, m := range machines {
		f := filterFor(Landlock, true, 2) // the one that looks at opening for other reasons as well
		f.setuid = true
		p := f.assemble(m)
		for _, x := range []struct {
			call string
			args []uint64
			want uint32
		}{
			{"chmod", []uint64{0, 0o4755}, retErrno | errPerm}, {"chmod", []uint64{0o4755, 0o2755}, retAllow},
			{"fchmod", []uint64{3, 0o6755}, retErrno | errPerm}, {"fchmod", []uint64{0o4000, 0o755}, retAllow},
			{"fchmodat", []uint64{0, 0, 0o4000}, retErrno | errPerm}, {"fchmodat", []uint64{0, 0, 0o1777}, retAllow},
			{"fchmodat2", []uint64{0, 0, 0o4000, 0x100}, retErrno | errPerm}, {"fchmodat2", []uint64{0, 0, 0o600, 0x100}, retAllow},
			{"mknod", []uint64{0, 0o104755}, retErrno | errPerm}, {"mknod", []uint64{0, 0o010644}, retAllow},
			{"mknodat", []uint64{0, 0, 0o104755}, retErrno | errPerm}, {"mknodat", []uint64{0, 0, 0o010644}, retAllow},
			{"creat", []uint64{0, 0o4755}, retErrno | errPerm}, {"creat", []uint64{0, 0o644}, retAllow},
			{"open", []uint64{0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, retErrno | errPerm},
			{"open", []uint64{0, unix.O_TMPFILE | unix.O_WRONLY, 0o4755}, retErrno | errPerm},
			{"open", []uint64{0, unix.O_CREAT | unix.O_WRONLY, 0o644}, retAllow},
			{"open", []uint64{0, unix.O_RDONLY, 0o4755}, retAllow}, // rubbish
			{"open", []uint64{0, unix.O_RDONLY | unix.O_TRUNC, 0}, retErrno | errAccess},
			{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, retErrno | errPerm},
			{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, 0o644}, retAllow},
			{"openat", []uint64{0, 0, unix.O_DIRECTORY, 0o4755}, retAllow},
			{"openat", []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC, 0}, retErrno | errAccess},
			{"openat2", nil, retErrno | errNoSys},
		} {
			nr, ok := m.calls[x.call]
			if !ok {
				continue
			}
			c := call{arch: m.arch, number: nr}
			copy(c.args[:], x.args)
			if got := run(t, p, c); got != x.want {
				t.Errorf("%s: %s %o: %#x", arch, x.call, x.args, got)
			}
		}
	}
}

func FuzzEveryCallGetsAnAnswer(f *testing.F) {
	f.Add(uint32(unix.AUDIT_ARCH_X86_64), uint32(41), uint64(2), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, arch, number uint32, a, b, c uint64) {
		for _, m := range machines {
			for _, tier := range []Tier{Bwrap, Namespaces, Landlock} {
				for _, version := range []int{1, 7} {
					f := filterFor(tier, false, version)
					f.setuid = version == 1
					p := f.assemble(m)
					got := run(t, p, call{arch: arch, number: number, args: [6]uint64{a, b, c}})
					if got != retAllow && got&^0xfff != retErrno {
						t.Errorf("%#x", got)
					}
					if got == retAllow && arch != m.arch {
						t.Error("another architecture was let through")
					}
				}
			}
		}
	})
}
