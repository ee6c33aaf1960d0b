package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/holdfast/holdfast/client"
)

// A stream that breaks off in the middle of an event goes on behind the last whole one: nothing
// is told twice or left out.
func TestFollowRunResumes(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := r.Header.Get("Last-Event-ID")
		asked = append(asked, last)
		w.Header().Set("Content-Type", "text/event-stream")
		switch len(asked) {
		case 1:
			fmt.Fprint(w, "event: status\ndata: {\"status\":\"planning\",\"phase\":\"plan\",\"attempt\":1}\n\n: still there\n\n"+
				"event: log\nid: 1:3\ndata: {\"attempt\":1,\"offset\":0,\"bytes\":\"b25l\"}\n\nevent: log\nid: 1:6\ndata: {\"att")
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, "event: log\nid: 1:6\ndata: {\"attempt\":1,\"offset\":3,\"bytes\":\"dHdv\"}\n\nevent: "+
				"end\ndata: {}\n\n")
		}
	}))
	defer server.Close()
	c := client.New(client.Options{Address: server.URL, Pause: func(context.Context, time.Duration) error { return nil }})
	var text, status string
	err := c.FollowRun(t.Context(), "01JD8X6Q4ZK4T1M5S0R9V7E2WB", "plan", func(u client.RunUpdate) error {
		if u.Log != nil {
			text += string(u.Log.Bytes)
		} else {
			status = u.Status.Status
		}
		return nil
	})
	if err != nil || text != "onetwo" || status != "planning" || fmt.Sprint(asked) != "[ 1:3 1:3]" {
		t.Errorf("%q, %q, asked %q: %v", text, status, asked, err)
	}
}

// A refusal is no reason to ask again.
func TestFollowRunRefused(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	err := client.New(client.Options{Address: server.URL}).FollowRun(t.Context(), "x", "plan",
		func(client.RunUpdate) error { return nil })
	if err == nil || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}
