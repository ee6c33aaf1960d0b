package keyservice

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/holdfast/holdfast/seal"
)

// The services, as settings and master key files name them.
const (
	Transit = "transit"
	AWS     = "aws"
	Google  = "google"
	Azure   = "azure"
)

// Options say which key of which service wraps.
type Options struct {
	Service   string // Transit, AWS, Google or Azure
	Key       string // what the service calls the key
	Address   string // of the service; empty means where it usually is
	Namespace string // of Transit; empty for none
	TokenFile string // has what the service is shown, and is read again for each request; empty means as is usual there
	CAFile    string // certificates that the service's may be signed by; empty means the system's
	Getenv    func(string) string
}

// New returns a service. Nothing is asked of it yet.
func New(o Options) (seal.Keeper, error) {
	client, err := newClient(o.CAFile)
	if err != nil {
		return nil, err
	}
	if o.Key == "" {
		return nil, errors.New("seal.key has to name the key that wraps the master keys")
	}
	at := strings.TrimRight(o.Address, "/")
	if at != "" && !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "http://") {
		return nil, fmt.Errorf("seal.key_address: %.60q is no address such as https://vault.example.com:8200", at)
	}
	switch o.Service {
	case Transit:
		return newTransit(o, client, at)
	case AWS:
		return newAWS(o, client, at)
	case Google:
		return newGoogle(o, client, at)
	case Azure:
		return newAzure(o, client, at)
	}
	return nil, fmt.Errorf("there is no key service %.20q", o.Service)
}

// timeout is of one try of one request.
const timeout = 10 * time.Second

// newClient follows no redirects: what is sent has keys in it.
func newClient(caFile string) (*http.Client, error) {
	transport := &http.Transport{Proxy: besideMachine(http.ProxyFromEnvironment), TLSHandshakeTimeout: timeout,
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if caFile != "" {
		text, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("seal.key_ca_file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("seal.key_ca_file: there is no certificate in %s", caFile)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// tokenIn reads a token from a file, which who renews it replaces.
func tokenIn(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("seal.key_token_file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, "\r\n") || len(token) > 16<<10 {
		return "", fmt.Errorf("seal.key_token_file: %s is not one line with a token", path)
	}
	return token, nil
}
