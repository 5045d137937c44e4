package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// exchangeCommand makes this program the floor under jig: it is started as
//
//	bench exchange URL ROUNDS FIRST LAST COMMAND…
//
// and does in each round nothing but what no program can do without that talks to such a server and runs
// a command: it sends a request, reads the answer, runs the command and reads what it prints. Its
// requests are as long as jig's, FIRST bytes at first and LAST at last, and say nothing. Without a command
// it only talks.
const exchangeCommand = "exchange"

func exchangeMain(args []string) int {
	if err := exchange(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func exchange(args []string) error {
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[1+i]); err != nil {
			return err
		}
	}
	rounds, first, last := n[0], n[1], n[2]
	for i := range rounds + 1 {
		size := first + (last-first)*i/rounds
		req, err := http.NewRequest(http.MethodPost, args[0]+"/v1/chat/completions", bytes.NewReader(bytes.Repeat([]byte{' '}, size)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !strings.HasSuffix(string(answer), "data: [DONE]\n\n") {
			return fmt.Errorf("round %d: %w: %q", i, err, answer)
		}
		if command := args[4:]; i < rounds && len(command) > 0 {
			if _, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchanged is when that program made its requests, as many and as long as those of s.
func (b *bench) exchanged(n int, s seen, command ...string) ([]time.Time, error) {
	m, err := serve(make([]call, n), nil)
	if err != nil {
		return nil, err
	}
	defer m.close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, append([]string{exchangeCommand, m.url, strconv.Itoa(n), strconv.Itoa(s.first), strconv.Itoa(len(s.last))}, command...)...)
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked, nil
}
