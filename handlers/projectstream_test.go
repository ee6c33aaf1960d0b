package handlers_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/middleware"
)

// projectServer serves the project a, in front of which no test stands: a WebSocket takes the connection itself.
func projectServer(t *testing.T) (*runworld.World, caller) {
	t.Helper()
	return projectServerFor(t, func(keys runKeys) middleware.Verifier { return keys })
}

func projectServerFor(t *testing.T, verifier func(runKeys) middleware.Verifier) (*runworld.World, caller) {
	t.Helper()
	deps := testDeps(t)
	world, known := runworld.New(t), testKeys()
	own := known[auth.Credentials{Org: acme, Key: acmeKey}]
	known[auth.Credentials{Org: acme, Key: "internal"}] = internalOwner(own)
	known[auth.Credentials{Org: acme, Key: "writer"}] = auth.Principal{Org: acme, KeyID: "w1", KeyName: "wanda",
		Grant: auth.Grant{Role: auth.Writer}}
	deps.Runs, deps.Verifier = world.Service, verifier(runKeys{known, world})
	deps.Insights = insight.NewService(world.Service, nil, nil, time.Now)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	c := newCaller(t, server, acme, acmeKey)
	c.converse([]step{{"POST /api/v1/workspaces", `{"name":"a"}`, 200, ""}})
	return world, c
}

// socket is a reader of a stream.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
	at   string // the last position
}

func (c caller) dial(path string) (*socket, *http.Response) {
	c.t.Helper()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.key))
	conn, answer, err := websocket.Dial(c.t.Context(), c.url+path,
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {basic}}})
	if err != nil {
		return nil, answer
	}
	conn.SetReadLimit(1 << 20)
	c.t.Cleanup(func() { _ = conn.CloseNow() })
	return &socket{t: c.t, conn: conn}, answer
}

// must reads the next message, which is of a type.
func (s *socket) must(kind string) api.ProjectEvent {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer stop()
	_, raw, err := s.conn.Read(ctx)
	if err != nil {
		s.t.Fatalf("no message %q: %v", kind, err)
	}
	var said api.ProjectEvent
	if err := json.Unmarshal(raw, &said); err != nil || said.Type != kind {
		s.t.Fatalf("got %s, want a message %q", raw, kind)
	}
	s.at = said.Position
	return said
}

// until reads on to a message of a type, and returns the log before it.
func (s *socket) until(kind, status string) (log string, said api.ProjectEvent) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer stop()
	for {
		_, raw, err := s.conn.Read(ctx)
		if err != nil {
			s.t.Fatalf("no message %q: %v, behind %q", kind, err, log)
		}
		said = api.ProjectEvent{}
		if err := json.Unmarshal(raw, &said); err != nil {
			s.t.Fatal(err)
		}
		s.at, log = said.Position, log+said.Data
		if said.Type == "result" && kind != "result" {
			s.t.Fatalf("no message %q before the result", kind)
		}
		if said.Type == kind && (status == "" || said.Run.Status == status) {
			return log, said
		}
	}
}

// A stream that breaks off goes on behind what was read, through the plan, somebody's yes, and the apply.
func TestProjectStreamGoesOnWhereItBroke(t *testing.T) {
	world, c := projectServer(t)
	s, _ := c.dial("/api/v1/infra/a/run/stream?mode=apply")
	begun := s.must("run")
	if begun.Run.Status != "pending" || begun.Run.Type != "apply" || begun.Run.Project != "a" {
		t.Errorf("got the run %+v", begun.Run)
	}
	id := begun.Run.ID
	e := world.Claim(t, acme)
	e.Log("one\n")
	if log, _ := s.until("log", ""); log != "one\n" {
		t.Errorf("got %q", log)
	}
	at := s.at
	_ = s.conn.CloseNow()
	e.Log("two \xc3")
	e.Log("\xa9\n")
	e.Plan(2)
	again := "/api/v1/infra/a/run/stream?run=" + id + "&position="
	s, _ = c.dial(again + at)
	s.must("run")
	if log, said := s.until("log", ""); log != "two é\n" || said.Position == at {
		t.Errorf("got %q at %s", log, said.Position)
	}
	at = s.at
	_ = s.conn.CloseNow()
	s, _ = c.dial(again + at)
	waits := s.must("run").Run
	if waits.Status != "awaiting_approval" || waits.Digest == nil || waits.Counts.Added != 2 {
		t.Fatalf("got the run %+v", waits)
	}
	c.converse([]step{{"POST /api/v1/infra/a/runs/" + id + "/approve", `{"digest":"` + *waits.Digest + `"}`, 200,
		`"decision":"approved","decidedBy":"a1"`}})
	apply := world.Claim(t, acme)
	apply.Log("applied\n")
	apply.Apply(`{}`)
	log, end := s.until("result", "")
	if log != "applied\n" || end.Result.Status != "success" || len(end.Result.PlanJSON.ResourceChanges) != 2 {
		t.Errorf("got %q and %+v", log, end.Result)
	}
	if _, _, err := s.conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("behind the result: %v", err)
	}
	c.converse([]step{{"GET /api/v1/infra/a/runs/" + id, "", 200, `"logs":"one\ntwo é\napplied\n"`}})
}

// Of runs that are asked for at one moment, one is made.
func TestProjectHasOneRunAtATime(t *testing.T) {
	world, c := projectServer(t)
	var mu sync.Mutex
	answers := map[int]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, got := c.dial("/api/v1/infra/a/run/stream?mode=plan")
			mu.Lock()
			defer mu.Unlock()
			answers[got.StatusCode]++
			if got.StatusCode != 409 {
				return
			}
			if raw, _ := io.ReadAll(got.Body); !strings.Contains(string(raw), `"code":"run_in_progress","message":"A run is already in progress for this project"`) {
				t.Errorf("got %s", raw)
			}
		})
	}
	all.Wait()
	if answers[101] != 1 || answers[409] != 7 {
		t.Errorf("got the statuses %v", answers)
	}
	world.Claim(t, acme).Plan(1)
	s, _ := c.dial("/api/v1/infra/a/run/stream?mode=plan")
	s.must("run")
}

// Who may apply and not approve can say no; POST /run waits until there is something to say.
func TestProjectRunWaitsAndIsDenied(t *testing.T) {
	world, c := projectServer(t)
	writer := c
	writer.key = "writer"
	done := make(chan answer, 1)
	go func() { done <- writer.do("POST /api/v1/infra/a/run", `{"mode":"apply"}`) }()
	world.Await(t, acme).Plan(1)
	var run api.ProjectRun
	got := <-done
	if err := json.Unmarshal([]byte(got.body), &run); err != nil || run.Status != "awaiting_approval" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	writer.converse([]step{
		{"POST /api/v1/infra/a/run", `{"mode":"plan"}`, 409, "A run is already in progress for this project"},
		{"POST /api/v1/infra/a/runs/" + run.ID + "/deny", `{"digest":"` + wireDigest + `"}`, 409, "pin_mismatch"},
		{"POST /api/v1/infra/a/runs/" + run.ID + "/deny", "", 200, `"decision":"denied","decidedBy":"wanda"`},
		{"GET /api/v1/infra/" + run.ProjectID + "/runs?limit=1", "", 200, `"status":"failed"`},
	})
	go func() { done <- writer.do("POST /api/v1/infra/a/run", `{"mode":"plan"}`) }()
	world.Await(t, acme).Plan(1)
	if got := <-done; !strings.Contains(got.body, `"status":"success"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// takenBack has keys that can be taken back while their requests go on.
type takenBack struct {
	runKeys
	gone *atomic.Bool
}

func (takenBack) Edition() uint64 { return 1 }

func (k takenBack) VerifyAgain(_ context.Context, _ auth.Credentials, before auth.Principal,
	_ uint64) (auth.Principal, error) {
	if k.gone.Load() {
		return auth.Principal{}, fault.New(fault.CredentialsRevoked, "taken back")
	}
	return before, nil
}

func (k takenBack) VerifyCertificateAgain(context.Context, auth.Certificate, auth.Principal) (auth.Principal, error) {
	return auth.Principal{}, fault.New(fault.CredentialsRevoked, "there are none")
}

// Who waits for a run with a key that is taken back meanwhile is shown nothing of how the run has ended.
func TestProjectRunIsNotShownToWhoseKeyIsTakenBack(t *testing.T) {
	gone := &atomic.Bool{}
	world, c := projectServerFor(t, func(keys runKeys) middleware.Verifier { return takenBack{keys, gone} })
	done := make(chan answer, 1)
	go func() { done <- c.do("POST /api/v1/infra/a/run", `{"mode":"plan"}`) }()
	e := world.Await(t, acme)
	gone.Store(true)
	e.Plan(1)
	if got := <-done; got.status != 401 || !strings.Contains(got.body, `"credentials_revoked"`) ||
		!strings.Contains(got.body, "the run is there") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// So it is over a WebSocket, whose last message has the plan, the files and what they mean.
func TestProjectStreamShowsNoResultToWhoseKeyIsTakenBack(t *testing.T) {
	gone := &atomic.Bool{}
	world, c := projectServerFor(t, func(keys runKeys) middleware.Verifier { return takenBack{keys, gone} })
	s, _ := c.dial("/api/v1/infra/a/run/stream?mode=plan")
	s.must("run")
	e := world.Claim(t, acme)
	gone.Store(true)
	e.Plan(1)
	if _, end := s.until("error", ""); end.Error.Code != string(fault.CredentialsRevoked) || end.Result != nil {
		t.Errorf("got %+v", end)
	}
}

// Who sees no state is sent the lines without values, and goes on behind them all the same.
func TestProjectStreamWithoutValues(t *testing.T) {
	world, c := projectServer(t)
	c.key = "internal"
	s, _ := c.dial("/api/v1/infra/a/run/stream?mode=plan")
	id := s.must("run").Run.ID
	e := world.Claim(t, acme)
	e.Log("aws_vpc.a: Refreshing state... [id=vpc-secret]\n  value = secret\nPlan: 1 to ")
	if log, _ := s.until("log", ""); log != "aws_vpc.a: Refreshing state...\n" {
		t.Errorf("got %q", log)
	}
	at := s.at
	_ = s.conn.CloseNow()
	e.Log("add, 0 to change, 0 to destroy.\nsecret")
	e.Plan(1)
	s, _ = c.dial("/api/v1/infra/a/run/stream?run=" + id + "&position=" + at)
	log, end := s.until("result", "")
	if log != "Plan: 1 to add, 0 to change, 0 to destroy.\n" || !end.Result.PlanJSON.Masked ||
		string(end.Result.PlanJSON.ResourceChanges[0].Change.After) != "null" {
		t.Errorf("got %q and %+v", log, end.Result.PlanJSON)
	}
}
