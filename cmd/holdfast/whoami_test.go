package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

func TestWhoami(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	want := `organization      ` + someOrg + `
role              owner
rights            state:read, state:write, state:lock, state:unlock, state:metadata, state:outputs, state:purge, state:expect, state:import, data:read, data:write, audit:read, workspace:read, workspace:write, run:read, run:plan, run:apply, run:approve, run:break_glass, run:cancel, agent:manage, policy:manage, key:read, key:manage, organization:manage, repository:read, repository:write
states            all
expires           never
uploads and data  not limited
state requests    not limited
`
	if out := s.must("whoami", "--wide"); out != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	if out := s.must("whoami", "--json"); !strings.HasPrefix(out, `{"org_id":"`+someOrg+`","org_name":"",`) ||
		!strings.HasSuffix(out, "}\n") {
		t.Errorf("printed %s", out)
	}
}

// What a server says can't move the cursor.
func TestWhoamiShowsWhatTheServerSays(t *testing.T) {
	s := newShell(t)
	answer := `{"org_id":"1f0e0000-0000-4000-8000-000000000000","org_name":"Ac\u001b[2Jme","key_id":"0f3a","key_name":"ci","subject":"dns:ci.acme.example","role":"writer","rights":["state:read"],
		"states":["prod/*","shared/network"],"expires":"2027-01-31T00:00:00Z","limits":{"rate_limit":60,"state_rate_limit":600,"state_rate_left":7,"state_rate_saved":500},"address":"192.0.2.1","later":1}`
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/whoami" {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Write([]byte(answer))
	}), auth.NewKey(acme))
	want := `organization      1f0e0000-0000-4000-8000-000000000000 (Ac\x1b[2Jme)
key               0f3a (ci)
subject           dns:ci.acme.example
role              writer
rights            state:read
states            prod/*, shared/network
expires           2027-01-31T00:00:00Z
uploads and data  60 a minute
state requests    600 a minute, 7 left now, and 500 reads and locks
address           192.0.2.1
`
	if out := s.must("whoami"); out != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	for _, answer = range []string{"", "[]", "{}", "<html>", `{"org_id":1}`} {
		if code, out, errs := s.run("whoami"); code != exitFailed || out != "" ||
			!strings.Contains(errs, "not what a Holdfast server sends") {
			t.Errorf("%q: %d %s%s", answer, code, out, errs)
		}
	}
}

func TestWhoamiIsRefused(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	s.environ = append([]string{"HOLDFAST_KEY=" + auth.NewKey(acme)}, s.environ...)
	if code, _, errs := s.run("whoami"); code != exitFailed || !strings.Contains(errs, "401 credentials_wrong") {
		t.Errorf("%d %s", code, errs)
	}
}
