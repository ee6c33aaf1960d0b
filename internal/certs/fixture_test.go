package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

const address = "127.0.0.1"

// kept is a Keeper with its files and its log.
type kept struct {
	*Keeper
	t     *testing.T
	files Files
	log   *bytes.Buffer

	config *tls.Config // one for all connections, as a server has it
}

// keep opens files in a folder of their own, for whose clients nothing is asked.
func keep(t *testing.T, pair certstest.Pair) *kept {
	t.Helper()
	dir := t.TempDir()
	k := &kept{t: t, log: &bytes.Buffer{},
		files: Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}}
	k.write(pair)
	k.open()
	return k
}

// keepWithClients also asks clients for certificates of an authority.
func keepWithClients(t *testing.T, pair certstest.Pair, clients *certstest.Authority) *kept {
	t.Helper()
	k := keep(t, pair)
	k.files.ClientCA = filepath.Join(t.TempDir(), "ca.crt")
	k.put(k.files.ClientCA, clients.PEM)
	k.open()
	return k
}

func (k *kept) open() {
	k.t.Helper()
	k.log.Reset()
	var err error
	if k.Keeper, err = Open(k.t.Context(), k.files, slog.New(slog.NewTextHandler(k.log, nil)), time.Now); err != nil {
		k.t.Fatal(err)
	}
	k.config = k.Config()
}

func (k *kept) write(pair certstest.Pair) {
	k.put(k.files.Cert, pair.Cert)
	k.put(k.files.Key, pair.Key)
}

func (k *kept) put(path string, text []byte) {
	k.t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) lookTwice() {
	k.look(k.t.Context())
	k.look(k.t.Context())
}

// look looks at all files once.
func (k *kept) look(ctx context.Context) {
	for _, f := range k.Keeper.files {
		f.Look(ctx)
	}
}

// logged counts the lines with this text.
func (k *kept) logged(text string) int { return strings.Count(k.log.String(), text) }

// wantServed checks that the certificate is of this authority, by a client that trusts no
// other.
func (k *kept) wantServed(when string, by *certstest.Authority) {
	k.t.Helper()
	if _, err := k.connect(&tls.Config{RootCAs: by.Pool()}); err != nil {
		k.t.Errorf("%s: %v", when, err)
	}
}

// connect shakes hands over a real connection and says one byte each way: a server's
// refusal of a client's certificate comes after the client's own handshake. It returns
// what the server knows of the client.
func (k *kept) connect(client *tls.Config) (tls.ConnectionState, error) {
	k.t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		k.t.Fatal(err)
	}
	defer listener.Close()
	known := make(chan tls.ConnectionState, 1)
	go func() {
		defer close(known)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		secured := tls.Server(conn, k.config)
		if secured.Handshake() == nil {
			known <- secured.ConnectionState()
			_, _ = secured.Write([]byte{1})
		}
	}()
	client.ServerName = address
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: client}
	conn, err := dialer.DialContext(k.t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return tls.ConnectionState{}, err
	}
	state, ok := <-known
	if !ok {
		return state, errors.New("the server has shaken no hands")
	}
	return state, nil
}

// certificate is a client's.
func certificate(t *testing.T, pair certstest.Pair) []tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{c}
}
