package server

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
)

// Who reads a state, or uploads, is on record when that is done, and who fails to log in when the server has stopped at
// the latest.
func TestReadsAndFailuresAreOnRecord(t *testing.T) {
	r := start(t)
	const body = `{"version":4,"serial":1,"lineage":"l"}`
	if status, answer := r.ask(http.MethodPost, "/api/v1/state/prod", body); status/100 != 2 {
		t.Fatal(status, answer)
	}
	for range 3 {
		if status, answer := r.ask(http.MethodGet, "/api/v1/state/prod", ""); status != 200 {
			t.Fatal(status, answer)
		}
	}
	_, answer := r.ask(http.MethodGet, "/api/v1/audit?action=state.read", "")
	if strings.Count(answer, `"state.read"`) != 1 {
		t.Errorf("after three reads: %s", answer)
	}
	for range 3 {
		if status, answer := r.ask(http.MethodPost, "/api/v1/upload", `{"provider":"aws","category":"compute",
			"resource_type":"vm","instances":[{"resource_name":"web"}]}`); status != 200 {
			t.Fatal(status, answer)
		}
	}
	for _, org := range []string{r.org.String(), uuid.NewString()} {
		for range 2 {
			request, err := http.NewRequest(http.MethodGet, r.url+"/api/v1/state/prod", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.SetBasicAuth(org, "wrong")
			answer, err := http.DefaultClient.Do(request)
			if err != nil || answer.StatusCode != 401 {
				t.Fatal(answer, err)
			}
			answer.Body.Close()
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	got := map[audit.Action][]string{}
	for _, e := range r.events() {
		got[e.Action] = append(got[e.Action], e.Note+" "+e.Actor.Address)
	}
	if all := got[audit.StateRead]; len(all) != 2 || !strings.HasPrefix(all[0], "read 2 more times") {
		t.Errorf("reads: %q", all)
	}
	if all := got[audit.Upload]; len(all) != 2 || !strings.HasPrefix(all[0], "uploaded 2 more times") {
		t.Errorf("uploads: %q", all)
	}
	if all := got[audit.LoginFail]; len(all) != 1 || all[0] != "2 credentials_wrong 127.0.0.1" {
		t.Errorf("failed logins: %q", all)
	}
}

// events returns what is in the audit log of a server that has stopped, the newest first.
func (r *running) events() []audit.Event {
	r.t.Helper()
	settings, err := configs.Load(configs.Sources{Environ: r.environ})
	if err != nil {
		r.t.Fatal(err)
	}
	states, err := storage.OpenStates(context.Background(), settings, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer states.Close()
	page, err := states.Events(context.Background(), r.org, audit.Query{Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	return page.Events
}
