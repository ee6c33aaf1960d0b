package server

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/middleware"
)

const testOrg = "11111111-2222-3333-4444-555555555555"

// The router finds out by itself what a verifier can do.
var _ interface {
	middleware.Verifier
	middleware.CertificateVerifier
} = (*verify.Verifier)(nil)

func someCertificate(t *testing.T) *authfile.Document {
	t.Helper()
	doc, err := authfile.Parse("auth.cfg", "["+testOrg+"]\n["+testOrg+".cert.gw]\nrole = uploader\nsan = dns:gw\n")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestCertificatesAreNoted(t *testing.T) {
	verifier, err := verify.New(verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	verifier.Use(someCertificate(t).Keyring())
	settings := configs.Settings{Storage: configs.Storage{Path: t.TempDir()}}
	n := trackUses(t.Context(), verifier, settings, nil, slog.New(slog.DiscardHandler))
	for _, san := range []string{"dns:gw", "dns:other"} {
		_, err := verifier.VerifyCertificate(t.Context(),
			auth.Certificate{SANs: []string{san}, NotAfter: time.Now().Add(time.Hour)}, auth.Client{Address: "192.0.2.1"})
		if known := san == "dns:gw"; known != (err == nil) {
			t.Errorf("%s: %v", san, err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	uses, err := lastuse.Read(LastUsePath(settings))
	if err != nil || len(uses) != 1 ||
		uses[lastuse.Credential{Org: uuid.MustParse(testOrg), ID: "cert.gw"}].From != "192.0.2.1" {
		t.Errorf("noted %v, %v", uses, err)
	}
}

// A server that keeps nothing keeps no record either.
func TestMemoryNotesNothing(t *testing.T) {
	dir := t.TempDir()
	settings := configs.Settings{Storage: configs.Storage{Path: dir, Type: configs.Memory},
		State: configs.State{Storage: configs.Memory}}
	verifier, err := verify.New(verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	verifier.Use(someCertificate(t).Keyring())
	n := trackUses(t.Context(), verifier, settings, nil, slog.New(slog.DiscardHandler))
	shown := auth.Certificate{SANs: []string{"dns:gw"}, NotAfter: time.Now().Add(time.Hour)}
	if _, err := verifier.VerifyCertificate(t.Context(), shown, auth.Client{}); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left %v", entries)
	}
}
