package statefile

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
)

func TestRequestsAreRepeatedWhileTheServerHasNoTime(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	h := &HTTP{Address: server.URL, Retries: 2, WaitMin: time.Millisecond}
	if f, err := h.Read(t.Context()); f != nil || err != nil || asked != 3 {
		t.Errorf("%v %v after %d requests", f, err, asked)
	}
}

// A lock whose answer was lost is asked for again, and the server says that it is held: by ourselves.
func TestLockIsOursIfItsAnswerWasLost(t *testing.T) {
	var holder LockInfo
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "LOCK" && holder.ID == "" {
			_ = json.NewDecoder(r.Body).Decode(&holder)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.Method == "LOCK" {
			w.WriteHeader(http.StatusLocked)
			_ = json.NewEncoder(w).Encode(holder)
		}
	}))
	defer server.Close()
	h := &HTTP{Address: server.URL, Retries: 1, WaitMin: time.Millisecond}
	release, err := h.Lock(t.Context(), NewLockInfo("apply"))
	if err != nil {
		t.Fatal(err)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = h.Lock(t.Context(), NewLockInfo("apply"))
	wantCategory(t, err, diag.Concurrency)
}

func TestErrorsOfTheServerDoNotHaveItsAddress(t *testing.T) {
	h := &HTTP{Address: "http://user:hush@127.0.0.1:1/state"}
	_, err := h.Read(t.Context())
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}
