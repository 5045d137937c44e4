//go:build linux

package sandbox

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The smallest use of io_uring that opens a socket and connects it: two requests, one after the
// other, without a system call that names a socket.

type uringOffsets struct {
	head, tail, mask, entries uint32
	// flags, dropped, array of the one queue; overflow, entries' place, flags of the other
	fifth, sixth, seventh, eighth uint32
	address                       uint64
}

type uringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFD uint32
	resv                                                               [3]uint32
	sq, cq                                                             uringOffsets
}

type uring struct {
	fd   int
	p    uringParams
	ring []byte
	sqes []byte
}

func uringConnect(port int) error {
	var r uring
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&r.p)), 0)
	if e != 0 {
		return fmt.Errorf("io_uring_setup: %w", e)
	}
	r.fd = int(fd)
	size := max(int(r.p.sq.seventh)+int(r.p.sqEntries)*4, int(r.p.cq.sixth)+int(r.p.cqEntries)*16, 1<<14)
	var err error
	if r.ring, err = unix.Mmap(r.fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return err
	}
	if r.sqes, err = unix.Mmap(r.fd, 0x10000000, int(r.p.sqEntries)*64, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		return err
	}
	const opConnect, opSocket = 16, 45
	socket := make([]byte, 64)
	socket[0] = opSocket
	binary.NativeEndian.PutUint32(socket[4:], unix.AF_INET)
	binary.NativeEndian.PutUint64(socket[8:], unix.SOCK_STREAM)
	s, err := r.submit(socket)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	addr := unix.RawSockaddrInet4{Family: unix.AF_INET, Port: uint16(port>>8 | port&0xff<<8), Addr: [4]byte{127, 0, 0, 1}}
	connect := make([]byte, 64)
	connect[0] = opConnect
	binary.NativeEndian.PutUint32(connect[4:], uint32(s))
	binary.NativeEndian.PutUint64(connect[8:], uint64(unsafe.Sizeof(addr)))
	binary.NativeEndian.PutUint64(connect[16:], uint64(uintptr(unsafe.Pointer(&addr))))
	_, err = r.submit(connect)
	return err
}

// word is one of the ring's shared counters.
func (r *uring) word(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.ring[offset])) }

// submit makes one request and waits for its result.
func (r *uring) submit(sqe []byte) (int, error) {
	tail := atomic.LoadUint32(r.word(r.p.sq.tail))
	slot := tail & *r.word(r.p.sq.mask)
	copy(r.sqes[slot*64:], sqe)
	*r.word(r.p.sq.seventh + slot*4) = slot
	atomic.StoreUint32(r.word(r.p.sq.tail), tail+1)
	if _, _, e := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 1, 1, 1, 0, 0); e != 0 {
		return 0, e
	}
	head := atomic.LoadUint32(r.word(r.p.cq.head))
	at := r.p.cq.sixth + (head&*r.word(r.p.cq.mask))*16
	res := int32(binary.NativeEndian.Uint32(r.ring[at+8:]))
	atomic.StoreUint32(r.word(r.p.cq.head), head+1)
	if res < 0 {
		return 0, unix.Errno(-res)
	}
	return int(res), nil
}
