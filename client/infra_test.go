package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// projectServer says to each stream what is next, and breaks off.
func projectServer(t *testing.T, streams ...[]string) (c *client.Client, asked *[]string) {
	t.Helper()
	var mu sync.Mutex // a handler may end after the next one has begun
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		*asked = append(*asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery+" "+r.Header.Get("Idempotency-Key"))
		n := len(*asked)
		mu.Unlock()
		if n > len(streams) || streams[n-1] == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		for _, text := range streams[n-1] {
			_ = conn.Write(context.Background(), websocket.MessageText, []byte(text))
		}
		_ = conn.CloseNow()
	}))
	t.Cleanup(server.Close)
	return client.New(client.Options{Address: server.URL,
		Pause: func(context.Context, time.Duration) error { return nil }}), asked
}

// A stream that breaks off goes on behind the last message, and starts no second run.
func TestStreamProjectResumes(t *testing.T) {
	c, asked := projectServer(t, []string{}, []string{
		`{"type":"run","position":"plan:1:0","run":{"id":"r1","status":"pending"}}`,
		`{"type":"log","position":"plan:1:3","data":"one"}`}, nil,
		[]string{`{"type":"run","position":"plan:1:3","run":{"id":"r1","status":"running"}}`,
			`{"type":"log","position":"plan:1:6","data":"two"}`, `{"type":"result","result":{"id":"r1","status":"success"}}`})
	var told []string
	err := c.StreamProject(t.Context(), "prod/a+b", client.ProjectStream{Mode: "plan"}, func(e api.ProjectEvent) error {
		told = append(told, e.Type+e.Data)
		return nil
	})
	if want := []string{"run", "logone", "status", "logtwo", "result"}; err != nil || !slices.Equal(told, want) {
		t.Errorf("told %q: %v", told, err)
	}
	const path = "/api/v1/infra/prod%2Fa%2Bb/run/stream?"
	first := (*asked)[0]
	if len(first) < len(path+"mode=plan ")+36 || first[:len(path+"mode=plan ")] != path+"mode=plan " {
		t.Errorf("asked %q", first)
	}
	later := path + "position=plan%3A1%3A3&run=r1 "
	if want := []string{first, first, later, later}; !slices.Equal(*asked, want) {
		t.Errorf("asked %q", *asked)
	}
}

// What ends a stream for good is told, and not asked for again.
func TestStreamProjectEnds(t *testing.T) {
	for name, text := range map[string]string{"error": `{"type":"error","error":{"code":"gone","message":"it is gone"}}`,
		"foreign": `<html>`, "callback": `{"type":"log","data":"x"}`} {
		c, asked := projectServer(t, []string{text})
		mine := errors.New("mine")
		err := c.StreamProject(t.Context(), "p", client.ProjectStream{Mode: "plan"},
			func(api.ProjectEvent) error { return mine })
		good := map[string]bool{"error": client.IsCode(err, "gone"), "foreign": errors.Is(err, api.ErrForeign),
			"callback": errors.Is(err, mine)}
		if !good[name] || len(*asked) != 1 {
			t.Errorf("%s: asked %d times: %v", name, len(*asked), err)
		}
	}
	for _, project := range []string{"", ".", ".."} {
		c, asked := projectServer(t)
		if err := c.StreamProject(t.Context(), project, client.ProjectStream{}, nil); err == nil || len(*asked) > 0 {
			t.Errorf("%q: asked %q: %v", project, *asked, err)
		}
	}
}

// Each method asks for its own route.
func TestProjectRoutes(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		_ = json.NewEncoder(w).Encode(struct{}{})
	}))
	defer server.Close()
	c, ctx := client.New(client.Options{Address: server.URL}), t.Context()
	_, files := c.ProjectFiles(ctx, "p")
	_, sums := c.ProjectChecksums(ctx, "p")
	_, pull := c.PullProject(ctx, "p")
	_, put := c.PutProjectFile(ctx, "p", api.ProjectFileOrder{Name: "a"})
	_, deleted := c.DeleteProjectFile(ctx, "p", "m/a.tf")
	_, ran := c.RunProject(ctx, "p", api.ProjectRunOrder{Mode: "plan"}, "")
	_, runs := c.ProjectRuns(ctx, "p", 10, 20)
	_, one := c.ProjectRun(ctx, "p", "r")
	_, yes := c.ApproveProjectRun(ctx, "p", "r", api.ProjectDecision{})
	_, no := c.DenyProjectRun(ctx, "p", "r", api.ProjectDecision{})
	if err := errors.Join(files, sums, pull, put, deleted, ran, runs, one, yes, no); err != nil {
		t.Fatal(err)
	}
	const at = " /api/v1/infra/p/"
	if want := []string{"GET" + at + "files", "GET" + at + "files/checksums", "POST" + at + "files/pull",
		"POST" + at + "files",
		"DELETE" + at + "files/m%2Fa.tf", "POST" + at + "run", "GET" + at + "runs?limit=10&offset=20", "GET" + at + "runs/r",
		"POST" + at + "runs/r/approve", "POST" + at + "runs/r/deny"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
}
