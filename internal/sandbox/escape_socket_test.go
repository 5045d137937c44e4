//go:build linux

package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// socketAttempts aim at servers outside: they count who came, so nobody inside has to be believed.
func socketAttempts() []attempt {
	came := func(w *world, _ string) bool { return soon(func() bool { return w.visits.Load() > 0 }) }
	at := func(network string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) { w.serve(t, network, "") }
	}
	inTemp := func(name string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) { w.serve(t, "unix", filepath.Join(w.folder(t, "/tmp"), name)) }
	}
	list := []attempt{
		{name: "tcp", danger: "network", run: []string{"dial", "tcp4", "$ADDRESS"}, prepare: at("tcp4")},
		{name: "tcp, version 6", danger: "network", run: []string{"dial", "tcp6", "$ADDRESS"}, prepare: at("tcp6")},
		{name: "udp", danger: "network", run: []string{"dial", "udp4", "$ADDRESS"}, prepare: at("udp4")},
		{name: "udp, version 6", danger: "network", run: []string{"dial", "udp6", "$ADDRESS"}, prepare: at("udp6")},
		{name: "udp without connecting", danger: "network", run: []string{"send-to", "$ADDRESS"}, prepare: at("udp4")},
		{name: "tcp fast open", danger: "network", run: []string{"fast-open", "$ADDRESS"}, prepare: at("tcp4")},
		{name: "multipath tcp", danger: "network", run: []string{"multipath", "$ADDRESS"}, prepare: at("tcp4")},
		{name: "a name server", danger: "network", run: []string{"resolve", "$ADDRESS"}, prepare: at("udp4")},
		{name: "a shell's own tcp", danger: "network", run: []string{"sh", "bash -c 'echo x > /dev/tcp/$HOST/$PORT'"}, prepare: at("tcp4")},
		{name: "in a user namespace", danger: "network", run: []string{"in-namespace", "dial", "tcp4", "$ADDRESS"}, prepare: at("tcp4")},
		{name: "through io_uring", danger: "io-uring", run: []string{"uring", "$PORT"}, prepare: at("tcp4")},

		// asked for, it is there
		{name: "tcp, allowed", danger: "network", network: true, run: []string{"dial", "tcp4", "$ADDRESS"}, prepare: at("tcp4"),
			verdict: map[Tier]Verdict{Bwrap: Open, Namespaces: Open, Landlock: Open}},
		{name: "through io_uring, with the network allowed", danger: "io-uring", network: true, run: []string{"uring", "$PORT"}, prepare: at("tcp4")},

		{name: "stream", danger: "abstract", run: []string{"dial", "unix", "$ADDRESS"}, prepare: at("abstract")},
		{name: "datagram", danger: "abstract", run: []string{"dial", "unixgram", "$ADDRESS"}, prepare: at("abstractgram")},
		{name: "stream, with the network allowed", danger: "abstract", network: true, run: []string{"dial", "unix", "$ADDRESS"}, prepare: at("abstract")},
		{name: "datagram, with the network allowed", danger: "abstract", network: true, run: []string{"dial", "unixgram", "$ADDRESS"}, prepare: at("abstractgram")},

		{name: "in /run", danger: "run-sockets", rootOnly: true, run: []string{"dial", "unix", "$ADDRESS"},
			prepare: func(t *testing.T, w *world) { w.serve(t, "unix", filepath.Join(w.folder(t, "/run"), "s")) }},
		{name: "in /run, with the network allowed", danger: "run-sockets", rootOnly: true, network: true, run: []string{"dial", "unix", "$ADDRESS"},
			prepare: func(t *testing.T, w *world) { w.serve(t, "unix", filepath.Join(w.folder(t, "/run"), "s")) }},
		{name: "in /var/run", danger: "run-sockets", rootOnly: true, run: []string{"dial", "unix", "/var$ADDRESS"},
			prepare: func(t *testing.T, w *world) { w.serve(t, "unix", filepath.Join(w.folder(t, "/run"), "s")) }},
		{name: "in a folder of /tmp", danger: "tmp-sockets", run: []string{"dial", "unix", "$ADDRESS"}, prepare: inTemp("default")},
		{name: "in /tmp itself", danger: "tmp-sockets", run: []string{"dial", "unix", "$ADDRESS"},
			prepare: func(t *testing.T, w *world) { w.serve(t, "unix", w.folder(t, "/tmp")+".sock") }},
		{name: "uncovered in a user namespace", danger: "tmp-sockets", run: []string{"in-namespace", "uncover", "$ADDRESS"}, prepare: inTemp("default")},
		{name: "an agent in the home folder", danger: "tmp-sockets", run: []string{"dial", "unix", "$ADDRESS"},
			prepare: func(t *testing.T, w *world) {
				w.serve(t, "unix", filepath.Join(mkdir(t, w.path("home", ".gnupg")), "S.gpg-agent"))
			}},
		{name: "somewhere", danger: "other-sockets", run: []string{"dial", "unix", "$ADDRESS"},
			prepare: func(t *testing.T, w *world) { w.serve(t, "unix", w.path("out", "s")) }},
	}
	for i := range list {
		list[i].done, list[i].fresh = came, list[i].danger == "run-sockets" || list[i].danger == "tmp-sockets"
	}
	return list
}

// soon looks a few times: what a command caused before it ended is there already, or nearly.
func soon(f func() bool) bool {
	for range 20 {
		if f() {
			return true
		}
		time.Sleep(3 * time.Millisecond)
	}
	return false
}

// folder makes a folder that is gone when the test is.
func (w *world) folder(t *testing.T, where string) string {
	t.Helper()
	dir, err := os.MkdirTemp(where, "jig-sock-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Lchown(dir, w.who, w.who)
	return dir
}

// serve opens a server outside that counts its visitors. An address is made up where none is given.
func (w *world) serve(t *testing.T, network, address string) {
	t.Helper()
	visits := &atomic.Int64{}
	w.visits = visits
	switch network {
	case "tcp4", "udp4":
		address = "127.0.0.1:0"
	case "tcp6", "udp6":
		address = "[::1]:0"
	case "abstract", "abstractgram":
		address = fmt.Sprintf("@jig-test-%d-%d", os.Getpid(), time.Now().UnixNano())
		network = strings.Replace(network, "abstract", "unix", 1)
	}
	done := make(chan struct{})
	if strings.HasPrefix(network, "udp") || network == "unixgram" {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		w.reachable(c.LocalAddr().String())
		go func() {
			defer close(done)
			b := make([]byte, 512)
			for {
				if _, _, err := c.ReadFrom(b); err != nil {
					return
				}
				visits.Add(1)
			}
		}()
		t.Cleanup(func() { _ = c.Close(); <-done })
		return
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	w.reachable(l.Addr().String())
	if network == "unix" && address[0] == '/' {
		if err := os.Chmod(address, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

// reachable notes where a server is.
func (w *world) reachable(address string) {
	w.vars["ADDRESS"] = address
	if host, port, err := net.SplitHostPort(address); err == nil {
		w.vars["HOST"], w.vars["PORT"] = host, port
	}
}

func socketFunctions() functions {
	return functions{
		"dial": func(a []string) error {
			c, err := net.DialTimeout(a[0], a[1], 5*time.Second)
			if err != nil {
				return err
			}
			_, err = c.Write([]byte("x"))
			return err
		},
		"uncover": func(a []string) error {
			if err := unix.Unmount(filepath.Dir(a[0]), unix.MNT_DETACH); err != nil {
				fmt.Println(err)
			}
			_, err := net.Dial("unix", a[0])
			return err
		},
		"send-to": func(a []string) error {
			c, err := net.ListenUDP("udp4", nil)
			if err != nil {
				return err
			}
			to, err := net.ResolveUDPAddr("udp4", a[0])
			if err != nil {
				return err
			}
			_, err = c.WriteTo([]byte("x"), to)
			return err
		},
		"fast-open": func(a []string) error {
			s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(s, []byte("x"), unix.MSG_FASTOPEN, inet(a[0]))
		},
		"multipath": func(a []string) error {
			s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
			if err != nil {
				// a kernel without it connects plainly
				if s, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
					return err
				}
			}
			return unix.Connect(s, inet(a[0]))
		},
		"resolve": func(a []string) error {
			c, err := net.Dial("udp", a[0])
			if err != nil {
				return err
			}
			// a question for the address of leak.example
			q := "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04leak\x07example\x00\x00\x01\x00\x01"
			_, err = c.Write([]byte(q))
			return err
		},
		"uring": func(a []string) error { return uringConnect(number(a[0])) },
	}
}

func inet(address string) unix.Sockaddr {
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil
	}
	return &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
}
