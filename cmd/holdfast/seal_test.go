package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plantedSecret is what no file may have.
const plantedSecret = "c0rrect-horse"

// keepPlain makes a store that keeps a state unencrypted, by way of a server, and returns what is in it.
func keepPlain(t *testing.T) (s tenant, body string) {
	t.Helper()
	s = newTenant(t)
	s.beside()
	r := s.start("HOLDFAST_SEAL_PLAIN_STATES=true")
	s.setenv("HOLDFAST_ADDR", "http://"+r.address)
	s.setenv("HOLDFAST_KEY", s.key.Key)
	// So short that it is not compressed.
	body = `{"version":4,"serial":5,"lineage":"l","outputs":{"p":{"value":"` + plantedSecret + `"}},"resources":[]}`
	s.stdin = body
	s.must("state", "push", "prod/app", "-")
	r.stop()
	r.wait()
	return s, body
}

// TestSealCommands: a store that is not sealed says so, is sealed while it is served, and is renewed.
func TestSealCommands(t *testing.T) {
	s, body := keepPlain(t)
	s.refuse(exitFailed, "seal enable", "seal", "status")
	r := s.start()
	s.setenv("HOLDFAST_ADDR", "http://"+r.address)
	r.await("states are kept unencrypted: `holdfast seal enable` encrypts them while they are served")
	if got := readiness(t, r.address); !strings.Contains(got, `"unsealed":"states are kept unencrypted`) {
		t.Errorf("/readyz answers %s", got)
	}
	s.refuse(exitFailed, "seal enable", "seal", "status")
	if out := s.must("seal", "enable"); out != "All states are encrypted.\n" {
		t.Errorf("enable says %q", out)
	}
	if out := s.must("seal", "status"); out != "sealed\n" {
		t.Errorf("status says %q", out)
	}
	if got := readiness(t, r.address); strings.Contains(got, "unsealed") {
		t.Errorf("/readyz answers %s", got)
	}
	if out := s.must("state", "pull", "prod/app"); out != body {
		t.Errorf("the state is %s", out)
	}
	if out := s.must("seal", "rotate"); !strings.Contains(out, "data keys are wrapped") {
		t.Errorf("rotate says %q", out)
	}
	if in := s.filesWith(plantedSecret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
	r.stop()
	r.wait()
	r = s.start()
	if _, err := os.Stat(filepath.Join(s.data, "resources.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the index is on the disk: %v", err)
	}
	r.stop()
	r.wait()
	s.must("seal", "status")
	if out := s.must("seal", "rotate", "--rewrap"); !strings.HasPrefix(out, "0 data keys") {
		t.Errorf("rewrap says %q", out)
	}
	s.must("doctor")
	text, err := os.ReadFile(filepath.Join(s.data, "master.key"))
	if err != nil || strings.Count(string(text), "\n") != 5 {
		t.Errorf("the master key file is %d lines, %v", strings.Count(string(text), "\n"), err)
	}
	if err := os.Rename(filepath.Join(s.data, "master.key"), filepath.Join(s.data, "lost")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := s.run("doctor"); code != exitFailed {
		t.Errorf("doctor without a key: exit %d, %s", code, errs)
	}
	s.refuse(exitFailed, "master key file", "seal", "status")
}

// TestSealEnableAlone seals where no server runs.
func TestSealEnableAlone(t *testing.T) {
	s, _ := keepPlain(t)
	if in := s.filesWith(plantedSecret); len(in) == 0 {
		t.Error("the secret is nowhere before")
	}
	s.must("seal", "enable")
	s.must("seal", "enable")
	s.must("seal", "status")
	if in := s.filesWith(plantedSecret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
}

func readiness(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
