package main

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/middleware"
)

// The router finds out by itself what a verifier can do.
var _ interface {
	middleware.Verifier
	middleware.CertificateVerifier
} = noting{}

func TestCertificatesAreNoted(t *testing.T) {
	s := newShell(t)
	text := "[" + someOrg + "]\n[" + someOrg + ".cert.gw]\nrole = uploader\nsan = dns:gw\n"
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	verifier, err := verify.New(verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	verifier.Use(s.doc().Keyring())
	settings := configs.Settings{Storage: configs.Storage{Path: t.TempDir()}}
	n := noteUses(t.Context(), verifier, settings, slog.New(slog.DiscardHandler))
	for _, san := range []string{"dns:gw", "dns:other"} {
		_, err := n.VerifyCertificate(t.Context(), auth.Certificate{SANs: []string{san}, NotAfter: time.Now().Add(time.Hour)}, auth.Client{Address: "192.0.2.1"})
		if known := san == "dns:gw"; known != (err == nil) {
			t.Errorf("%s: %v", san, err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	uses, err := lastuse.Read(lastUsePath(settings))
	if err != nil || len(uses) != 1 || uses[lastuse.Credential{Org: uuid.MustParse(someOrg), ID: "cert.gw"}].From != "192.0.2.1" {
		t.Errorf("noted %v, %v", uses, err)
	}
}

// A server that keeps nothing keeps no record either.
func TestMemoryNotesNothing(t *testing.T) {
	dir := t.TempDir()
	settings := configs.Settings{Storage: configs.Storage{Path: dir, Type: configs.Memory}, State: configs.State{Storage: configs.Memory}}
	n := noteUses(t.Context(), nil, settings, slog.New(slog.DiscardHandler))
	if _, err := n.note(auth.Principal{Org: uuid.MustParse(someOrg)}, nil); err != nil {
		t.Error(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left %v", entries)
	}
}
