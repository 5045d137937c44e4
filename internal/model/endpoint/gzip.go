package endpoint

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// plainBody is the body of an answer as it was before somebody on the way compressed it, which no
// request asks for.
func plainBody(res *http.Response, b io.ReadCloser) io.ReadCloser {
	if e := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))); e == "gzip" || e == "x-gzip" {
		return &unzipped{ReadCloser: b}
	}
	return b
}

// unzipped reads a compressed body, and one that is only said to be as it is. Its beginning is not
// waited for until it is read.
type unzipped struct {
	io.ReadCloser
	in  io.Reader
	err error // that it began with
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.in == nil && u.err == nil {
		b := bufio.NewReader(u.ReadCloser)
		u.in = b
		if begin, _ := b.Peek(len(zipped)); string(begin) == zipped {
			u.in, u.err = gzip.NewReader(b)
		}
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.in.Read(p)
}
