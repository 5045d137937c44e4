package sandbox

import "golang.org/x/sys/unix"

// filters is what a filter must know of this architecture.
func filters() (machine, bool) {
	m := callNumbers()
	m.arch, m.x32 = unix.AUDIT_ARCH_X86_64, 0x40000000
	m.calls["open"], m.calls["creat"], m.calls["chmod"], m.calls["mknod"] = unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_CHMOD, unix.SYS_MKNOD
	return m, true
}
