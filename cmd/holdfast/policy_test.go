package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// What auth.cfg says about states holds in a running server: a write is kept back, and told.
func TestPoliciesAreInForce(t *testing.T) {
	o := newTenant(t)
	told := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer hook.Close()
	o.say("notify_url = " + hook.URL + "/s3same\n[" + o.key.Organization.String() +
		".states.kept]\nstates = x\nguards = hold\n")
	r := o.start("HOLDFAST_NOTICE_NETWORKS=127.0.0.0/8")
	for path, want := range map[string]int{statePath: http.StatusConflict, "/api/v1/state/y": http.StatusOK} {
		if status, body := o.call(r, "POST", path, `{"serial":1,"lineage":"a"}`); status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		if status, body := o.call(r, "POST", path, `{"serial":2,"lineage":"b"}`); status != want {
			t.Errorf("%s: %d %s; want %d", path, status, body, want)
		}
	}
	actions := ""
	for range 2 {
		select {
		case notice := <-told:
			actions += notice
		case <-time.After(patience):
			t.Fatalf("no notice came:\n%s", r.log)
		}
	}
	for _, want := range []string{`"action":"candidate.hold"`, `"action":"state.write"`, `lineage_changed`} {
		if !strings.Contains(actions, want) {
			t.Errorf("no %s in what was told: %s", want, actions)
		}
	}
	if strings.Contains(r.log.String(), "s3same") {
		t.Error("the log shows the address of notices")
	}
}

// say appends to the auth file.
func (s *shell) say(text string) {
	s.t.Helper()
	file, err := os.OpenFile(s.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if closed := file.Close(); err != nil || closed != nil {
		s.t.Fatal(err, closed)
	}
}
