package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

// secured is a running server with TLS, and its certificate's files.
type secured struct {
	*running
	cert, key string
}

func (o tenant) startTLS(by *certstest.Authority, settings ...string) *secured {
	o.t.Helper()
	dir := o.t.TempDir()
	s := &secured{cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key")}
	if err := by.ForAddress("127.0.0.1").Write(s.cert, s.key); err != nil {
		o.t.Fatal(err)
	}
	s.running = o.start(append(settings, "ENABLE_TLS=true", "TLS_CERT_FILE="+s.cert, "TLS_KEY_FILE="+s.key)...)
	return s
}

// browser is a client that keeps its connections, and speaks HTTP/2 when it can.
func (s *secured) browser(trust *certstest.Authority) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust.Pool()}, ForceAttemptHTTP2: true}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// get returns whether the connection was there before.
func (s *secured) get(client *http.Client) (reused bool, err error) {
	s.t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(s.t.Context(), trace), "GET", "https://"+
		s.address+"/livez", nil)
	if err != nil {
		return false, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 ||
		answer.Header.Get("Strict-Transport-Security") == "" {
		s.t.Errorf("%s %s %v", answer.Proto, answer.Status, answer.Header)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return reused, err
}

// A certificate is renewed under a running server: who is connected stays so, who comes
// gets the new one.
func TestServeRenewsItsCertificate(t *testing.T) {
	before, after := certstest.NewAuthority("before"), certstest.NewAuthority("after")
	s := newTenant(t).startTLS(before)
	early, late := s.browser(before), s.browser(after)
	if _, err := s.get(early); err != nil {
		t.Fatal(err)
	}
	if _, err := s.get(late); err == nil {
		t.Fatal("it has the new certificate already")
	}
	if err := after.ForAddress("127.0.0.1").Write(s.cert, s.key); err != nil {
		t.Fatal(err)
	}
	s.awaitNth("certificate loaded", 2)
	if _, err := s.get(late); err != nil {
		t.Errorf("the new certificate: %v", err)
	}
	if reused, err := s.get(early); err != nil || !reused {
		t.Errorf("who was connected: %v, the same connection: %t", err, reused)
	}
	if _, err := s.get(s.browser(before)); err == nil {
		t.Error("it has the old certificate still")
	}
}

func TestServeChecksClientCertificates(t *testing.T) {
	server, clients := certstest.NewAuthority("server"), certstest.NewAuthority("clients")
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, clients.PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newTenant(t).startTLS(server, "HOLDFAST_CLIENT_CA_FILE="+ca)
	show := func(by *certstest.Authority) error {
		pair := by.Issue(x509.Certificate{})
		certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		client := s.browser(server)
		client.Transport.(*http.Transport).
			TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &certificate, nil
		}
		_, err = s.get(client)
		return err
	}
	if err := show(clients); err != nil {
		t.Errorf("a good certificate: %v", err)
	}
	if show(server) == nil {
		t.Error("another authority's certificate is accepted")
	}
	if _, err := s.get(s.browser(server)); err != nil {
		t.Errorf("no certificate: %v", err)
	}
}
