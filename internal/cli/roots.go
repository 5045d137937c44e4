package cli

import (
	"crypto/x509"
	"fmt"
	"strings"

	"jig/internal/config"
)

// certName is the variable with a file of certificates of further authorities, as OpenSSL has it. The
// standard library reads it too, but not on every system, and says nothing of a file that is wrong.
const certName = "SSL_CERT_FILE"

const maxCerts = 16 << 20 // bytes

// roots are the authorities a provider's certificate may come from; nil is those of the machine.
func roots(w World, p config.Provider) (*x509.CertPool, error) {
	path, _ := w.Getenv(certName)
	if path == "" || p.Type == "replay" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(p.URL)), "http:") {
		return nil, nil
	}
	data, err := readSmall(path, maxCerts)
	if err != nil {
		return nil, fmt.Errorf("%s names %s, which cannot be read: %w; set it to a file of certificates, or unset it", certName, config.Shown(path), cause(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s names %s, which holds no certificate; set it to a file of certificates in PEM form, or unset it", certName, config.Shown(path))
	}
	return pool, nil
}
