//go:build linux

package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// pairFunctions are honest programs that talk to themselves.
func pairFunctions() functions {
	return functions{
		"unix-pair": func(a []string) error { return pair("unix", a[0]) },
		"tcp-pair":  func(a []string) error { return pair("tcp", a[0]) },
		"say":       func(a []string) error { fmt.Println(strings.Join(a, " ")); return nil },
		"terminal-pair": func([]string) error {
			master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			fd := int(master.Fd())
			if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
				return err
			}
			n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
			if err != nil {
				return err
			}
			slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return err
			}
			if _, err := slave.WriteString("heard\n"); err != nil {
				return err
			}
			b := make([]byte, 16)
			k, err := master.Read(b)
			fmt.Print(string(b[:k]))
			return err
		},
	}
}

func pair(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial(network, l.Addr().String())
	if err != nil {
		return err
	}
	s, err := l.Accept()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c, "heard"); err != nil {
		return err
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(s, b); err != nil {
		return err
	}
	fmt.Println(string(b))
	return nil
}
