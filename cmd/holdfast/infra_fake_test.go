package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
)

// fakeProject is a server with one project, prod/network, that says what a test has it say.
type fakeProject struct {
	t  *testing.T
	mu sync.Mutex

	files   map[string]string
	run     api.ProjectRun         // what it is asked for by its ID
	streams [][]api.ProjectEvent   // what each stream says before it ends
	refuse  map[string]api.Failure // by method and path below the project
	asked   []string               // method, path below the project, and the query of streams
	keys    []string               // of streams
	decided []api.ProjectDecision
	after   string        // the run's status once it was decided on
	hold    chan struct{} // if it is not nil, streams end once the run is cancelled
}

const projectPath = "/api/v1/infra/prod%2Fnetwork"

func (s *shell) project() *fakeProject {
	p := &fakeProject{t: s.t, files: map[string]string{}, after: "running", refuse: map[string]api.Failure{}}
	s.asking(p, auth.NewKey(acme))
	return p
}

func (p *fakeProject) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, _, ok := r.BasicAuth(); !ok {
		p.t.Errorf("%s without a key", r.URL)
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), projectPath)
	if !ok {
		p.discard(w, r)
		return
	}
	what := r.Method + " " + path
	if r.URL.RawQuery != "" {
		p.asked = append(p.asked, what+"?"+r.URL.RawQuery)
	} else {
		p.asked = append(p.asked, what)
	}
	if failure, ok := p.refuse[what]; ok {
		w.WriteHeader(http.StatusConflict)
		_ = json.NewEncoder(w).Encode(failure)
		return
	}
	p.answer(w, r, what)
}

func (p *fakeProject) answer(w http.ResponseWriter, r *http.Request, what string) {
	run := "/runs/" + goldenRun
	switch what {
	case "GET /files/checksums":
		sums := api.ProjectChecksums{}
		for name, content := range p.files {
			sums[name] = sumOf(content)
		}
		_ = json.NewEncoder(w).Encode(sums)
	case "POST /files":
		var order api.ProjectFileOrder
		_ = json.NewDecoder(r.Body).Decode(&order)
		p.files[order.Name] = order.Content
		_ = json.NewEncoder(w).Encode(api.ProjectFileDone{})
	case "POST /files/pull":
		var pulled api.ProjectPull
		for name, content := range p.files {
			pulled.Files = append(pulled.Files, api.ProjectPulled{Name: name, Content: content})
		}
		_ = json.NewEncoder(w).Encode(pulled)
	case "GET /run/stream":
		p.stream(w, r)
	case "GET " + run:
		_ = json.NewEncoder(w).Encode(p.run)
	case "POST " + run + "/approve", "POST " + run + "/deny":
		var d api.ProjectDecision
		_ = json.NewDecoder(r.Body).Decode(&d)
		p.decided = append(p.decided, d)
		p.run.Status = p.after
		_ = json.NewEncoder(w).Encode(p.run)
	default:
		p.t.Errorf("asked %s", what)
	}
}

// discard is what a person may do who may not deny, and cancel is for everyone.
func (p *fakeProject) discard(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/runs/"+goldenRun+"/cancel" {
		p.asked = append(p.asked, "cancel")
		_ = json.NewEncoder(w).Encode(api.Run{ID: goldenRun, Status: "cancelled"})
		close(p.hold)
		return
	}
	if r.URL.Path != "/api/v1/runs/"+goldenRun+"/discard" {
		p.t.Errorf("asked %s", r.URL)
	}
	p.asked = append(p.asked, "discard")
	_ = json.NewEncoder(w).Encode(api.Run{ID: goldenRun, Status: "discarded"})
}

// stream says what is next to be said, and breaks off unless that was the result.
func (p *fakeProject) stream(w http.ResponseWriter, r *http.Request) {
	p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
	if len(p.streams) == 0 {
		p.t.Errorf("asked for one stream more: %s", r.URL)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	events := p.streams[0]
	p.streams = slices.Clone(p.streams[1:])
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	p.mu.Unlock()
	defer p.mu.Lock()
	for _, e := range events {
		if e.Type == "result" && p.hold != nil {
			<-p.hold
		}
		text, _ := json.Marshal(e)
		if conn.Write(context.Background(), websocket.MessageText, text) != nil {
			return
		}
	}
	if len(events) > 0 && events[len(events)-1].Type == "result" {
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}
}

func brief(status string) api.ProjectRunBrief {
	run := api.ProjectRunBrief{ID: goldenRun, Project: shortName, Type: "apply", Status: status}
	if status == projectAwaiting {
		run.Digest, run.Counts = pointer(goldenSHA), &api.ProjectCounts{Added: 3, Changed: 1}
	}
	return run
}

func eventOf(kind, position, status string) api.ProjectEvent {
	return api.ProjectEvent{Type: kind, Position: position, Run: pointer(brief(status))}
}

func logOf(position, text string) api.ProjectEvent {
	return api.ProjectEvent{Type: "log", Position: position, Data: text}
}

// resultOf is the end of a run that was planned as in the document.
func resultOf(status string) api.ProjectEvent {
	run := exampleRunOf(status)
	return api.ProjectEvent{Type: "result", Result: &run}
}

func exampleRunOf(status string) api.ProjectRun {
	run := api.ProjectRun{ProjectRunBrief: brief(status), PlanJSON: &api.ProjectPlan{}}
	run.Counts = &api.ProjectCounts{Added: 3, Changed: 1}
	for _, c := range exampleChanges() {
		values := api.ProjectChangeValues{Actions: c.actions}
		if len(c.keys) > 0 {
			values.Before, values.After = json.RawMessage(`{"tags":{"a":1},"acl":"x"}`),
				json.RawMessage(`{"tags":{"a":2},"acl":"x"}`)
		}
		run.PlanJSON.ResourceChanges = append(run.PlanJSON.ResourceChanges, api.ProjectChange{Address: c.address,
			Change: values})
	}
	return run
}
