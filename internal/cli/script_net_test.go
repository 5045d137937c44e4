//go:build unix

package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// network is what stands between jig and a script's servers.
type network struct {
	at      map[string]string // addresses of servers with TLS, by name
	proxies []*proxy
}

func (n *network) lead(name, to string) {
	if n.at == nil {
		n.at = map[string]string{}
	}
	n.at[name] = to
}

// cmdSecure puts a server's TLS in front of one without: secure NAME HOST SERVER. Its certificate is for
// HOST and comes from an authority of its own, whose certificate is written to NAME.pem. Its address is
// in the variable NAME.
func cmdSecure(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 3, 3, "secure NAME HOST SERVER")
	plain, err := url.Parse(find(ts, args[2]).URL)
	ts.Check(err)
	authority, cert := certify(ts, args[1])
	way := httputil.NewSingleHostReverseProxy(plain)
	way.FlushInterval = -1
	s := httptest.NewUnstartedServer(way)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	s.EnableHTTP2 = true
	s.StartTLS()
	on(ts).t.Cleanup(s.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority}), 0o644))
	on(ts).between.lead(args[0], s.Listener.Addr().String())
	ts.Setenv(args[0], s.URL)
}

// certify makes an authority and a certificate of it for a host.
func certify(ts *testscript.TestScript, host string) (authority []byte, cert tls.Certificate) {
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		return k
	}
	above := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of its own"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	aboveKey := key()
	authority, err := x509.CreateCertificate(rand.Reader, above, above, aboveKey.Public(), aboveKey)
	ts.Check(err)
	below := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: above.NotBefore, NotAfter: above.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		below.IPAddresses = []net.IP{ip}
	} else {
		below.DNSNames = []string{host}
	}
	belowKey := key()
	raw, err := x509.CreateCertificate(rand.Reader, below, above, belowKey.Public(), aboveKey)
	ts.Check(err)
	return authority, tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: belowKey}
}

// proxy leads every request on to one server, whatever host it is for, and writes down what it was asked.
type proxy struct {
	name    string
	to      string
	refuses bool

	mu   sync.Mutex
	seen []string
}

// cmdProxy starts a proxy to the server NAME, or one that refuses: proxy VARIABLE NAME|refuse. Its
// address is in the variable.
func cmdProxy(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "proxy VARIABLE NAME|refuse")
	st := on(ts)
	p := &proxy{to: st.between.at[args[1]], refuses: args[1] == "refuse"}
	if s := st.servers[args[1]]; s != nil {
		p.to = strings.TrimPrefix(s.URL, "http://")
	}
	if p.to == "" && !p.refuses {
		ts.Fatalf("no server %s", args[1])
	}
	s := httptest.NewServer(p)
	st.t.Cleanup(s.Close)
	st.between.proxies = append(st.between.proxies, p)
	p.name = args[0]
	ts.Setenv(args[0], s.URL)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	line := r.Method + " " + r.RequestURI
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")); err == nil && len(raw) > 0 {
		line += " as " + string(raw)
	}
	p.mu.Lock()
	p.seen = append(p.seen, line)
	p.mu.Unlock()
	switch {
	case p.refuses:
		http.Error(w, "no", http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnel(w)
	default:
		way := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.to})
		way.FlushInterval = -1
		way.ServeHTTP(w, r)
	}
}

// tunnel hands bytes to and fro until one side ends.
func (p *proxy) tunnel(w http.ResponseWriter) {
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = to.Close() }()
	from, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	_, _ = io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
	_ = from.Close()
	<-done
}

// cmdSeen checks what a proxy was asked, line by line: seen VARIABLE LINE….
func cmdSeen(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 1, -1, "seen VARIABLE LINE…")
	all := on(ts).between.proxies
	i := slices.IndexFunc(all, func(p *proxy) bool { return p.name == args[0] })
	if i < 0 {
		ts.Fatalf("no proxy %s", args[0])
	}
	p := all[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if got, want := strings.Join(p.seen, "\n"), strings.Join(args[1:], "\n"); got != want {
		ts.Fatalf("%s saw\n%s\nwant\n%s", args[0], got, want)
	}
}

// cmdUserinfo puts a name and a password into the address in a variable: userinfo VARIABLE NAME:PASSWORD.
func cmdUserinfo(ts *testscript.TestScript, neg bool, args []string) {
	takes(ts, neg, args, 2, 2, "userinfo VARIABLE NAME:PASSWORD")
	ts.Setenv(args[0], strings.Replace(ts.Getenv(args[0]), "://", "://"+args[1]+"@", 1))
}
