package certs

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

// accepted reports whether a client with this certificate gets in, as somebody who is
// verified.
func (k *kept) accepted(server *certstest.Authority, client []tls.Certificate) bool {
	k.t.Helper()
	state, err := k.connect(&tls.Config{RootCAs: server.Pool(),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &client[0], nil // whatever authorities the server names
		}})
	return err == nil && len(state.VerifiedChains) > 0
}

// A client may show a certificate. One that is shown must be good: to let it pass as if
// there were none would hide that.
func TestClientCertificates(t *testing.T) {
	server := certstest.NewAuthority("server")
	mine, other := authorities()
	k := keepWithClients(t, server.ForAddress(address), mine)
	if state, err := k.connect(&tls.Config{RootCAs: server.Pool()}); err != nil || len(state.PeerCertificates) > 0 {
		t.Errorf("without a certificate: %v, %v", err, state.PeerCertificates)
	}
	if !k.accepted(server, certificate(t, mine.Issue(x509.Certificate{}))) {
		t.Error("a good certificate is refused")
	}
	if k.accepted(server, certificate(t, other.Issue(x509.Certificate{}))) {
		t.Error("another authority's certificate is accepted")
	}
	if k.accepted(server, certificate(t, server.Issue(x509.Certificate{}))) {
		t.Error("the server's authority vouches for clients")
	}
}

// A server that names no authorities asks for nothing.
func TestClientCertificatesAreOff(t *testing.T) {
	server, mine := authorities()
	k := keep(t, server.ForAddress(address))
	state, err := k.connect(&tls.Config{RootCAs: server.Pool(),
		Certificates: certificate(t, mine.Issue(x509.Certificate{}))})
	if err != nil || len(state.PeerCertificates) > 0 {
		t.Errorf("%v, %v", err, state.PeerCertificates)
	}
}

// Who is of an authority that was taken away does not get in again, not even by resuming
// a session of before.
func TestClientAuthoritiesAreReplaced(t *testing.T) {
	server := certstest.NewAuthority("server")
	before, after := authorities()
	old, young := certificate(t, before.Issue(x509.Certificate{})), certificate(t, after.Issue(x509.Certificate{}))
	k := keepWithClients(t, server.ForAddress(address), before)
	sessions := &tls.Config{RootCAs: server.Pool(), Certificates: old, ClientSessionCache: tls.NewLRUClientSessionCache(9)}
	for range 2 {
		if state, err := k.connect(sessions); err != nil || len(state.VerifiedChains) == 0 || state.DidResume {
			t.Fatalf("%v, %+v", err, state)
		}
	}
	k.put(k.files.ClientCA, after.PEM)
	k.lookTwice()
	if k.accepted(server, old) || !k.accepted(server, young) {
		t.Error("the new authority is not the one that counts")
	}
	if state, err := k.connect(sessions); err == nil && len(state.VerifiedChains) > 0 {
		t.Error("the old authority still counts in a session of before")
	}
	if k.logged("client authorities loaded") != 1 {
		t.Errorf("logged\n%s", k.log)
	}
}

// A fault of the authorities is logged once, and keeps neither them nor the certificate
// from being what they should.
func TestBadClientAuthorities(t *testing.T) {
	server, renewed := authorities()
	mine := certstest.NewAuthority("clients")
	other := certstest.NewAuthority("other")
	pair := mine.Issue(x509.Certificate{})
	damaged := strings.Replace(string(mine.PEM), "MI", "!!", 1)
	for name, text := range map[string]string{
		"empty":             "",
		"no PEM":            "mine",
		"a key":             string(pair.Key),
		"a key behind":      string(other.PEM) + string(pair.Key),
		"damaged":           damaged,
		"one is damaged":    damaged + string(other.PEM),
		"the last is cut":   string(other.PEM) + string(mine.PEM[:200]),
		"not a certificate": "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
	} {
		t.Run(name, func(t *testing.T) {
			k := keepWithClients(t, server.ForAddress(address), mine)
			k.put(k.files.ClientCA, []byte(text))
			k.write(renewed.ForAddress(address))
			k.lookTwice()
			k.lookTwice()
			if k.logged("level=ERROR") != 1 || strings.Contains(k.log.String(), "BEGIN") {
				t.Errorf("logged\n%s", k.log)
			}
			if !k.accepted(renewed, certificate(t, pair)) {
				t.Error("the client does not get in any more")
			}
			if _, err := Open(t.Context(), k.files, k.Keeper.log, k.now); err == nil {
				t.Error("a server would start with it")
			}
		})
	}
	if _, err := ParseAuthorities(append(other.PEM, mine.PEM...)); err != nil {
		t.Error(err)
	}
}
