package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/keyservice/keyservicetest"
)

// TestSealTransit: the master key is wrapped by Transit, which is asked when a server starts and when keys are
// rotated, and never for a request. A server whose Transit does not open the key does not start.
func TestSealTransit(t *testing.T) {
	s := newShell(t)
	s.beside()
	fake := keyservicetest.NewTransit("s.one")
	transit := httptest.NewServer(fake)
	defer transit.Close()
	token := s.write("token", "s.one")
	settings := []string{"HOLDFAST_SEAL_KEY_SERVICE=transit", "HOLDFAST_SEAL_KEY=transit/holdfast",
		"HOLDFAST_SEAL_KEY_ADDRESS=" + transit.URL, "HOLDFAST_SEAL_KEY_TOKEN_FILE=" + token}
	for _, one := range settings {
		name, value, _ := strings.Cut(one, "=")
		s.setenv(name, value)
	}
	var made newKey
	if err := json.Unmarshal([]byte(s.must("init", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	if said := (madeMaster{"f", true, "transit/holdfast"}).words(""); strings.Count(said, "\n") != 2 ||
		!strings.Contains(said, "it opens with the key transit/holdfast") {
		t.Errorf("init says\n%s", said)
	}
	master := filepath.Join(s.data, "master.key")
	wantWrapped := func(count int) {
		t.Helper()
		text, err := os.ReadFile(master)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), "\ntransit:vault:v") != count || regexp.MustCompile(`(?m)^[0-9a-f]{64}`).Match(text) {
			t.Errorf("the master key file is\n%s", text)
		}
	}
	wantWrapped(1)
	r := s.start(settings...)
	s.setenv("HOLDFAST_ADDR", "http://"+r.address)
	s.setenv("HOLDFAST_KEY", made.Key)
	asked := len(fake.Asked())
	for _, name := range []string{"a", "b"} {
		s.push(name, network(1, "small"))
		s.must("state", "pull", name)
	}
	if got := fake.Asked(); len(got) != asked {
		t.Errorf("requests have asked it: %v", got[asked:])
	}
	fake.Rotate()
	if out := s.must("seal", "rotate"); !strings.Contains(out, "data keys are wrapped") {
		t.Errorf("rotate says %q", out)
	}
	wantWrapped(2)
	if got := fake.Asked(); !slices.Contains(got, "rewrap") {
		t.Errorf("it was asked for %v", got)
	}
	s.must("state", "pull", "a")
	r.stop()
	r.wait()
	s.must("doctor")

	fake.Take("s.two")
	s.setenv("HOST", "127.0.0.1")
	s.setenv("PORT", "0")
	if code, _, errs := s.run("serve"); code != exitFailed || !strings.Contains(errs, "answers 403: permission denied") {
		t.Errorf("with a token that has ended: exit %d\n%s", code, errs)
	}
	if code, out, _ := s.run("doctor"); code != exitFailed || !strings.Contains(out, "master key can't be read") {
		t.Errorf("the doctor: exit %d, %s", code, out)
	}
	if err := os.WriteFile(token, []byte("s.two"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = s.start(settings...)
	s.setenv("HOLDFAST_ADDR", "http://"+r.address)
	s.must("state", "pull", "b")
}
