package state_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// closer is a Difference or a View.
type closer interface{ Close() }

// allRoom is more than a Room has, so that who takes it finds out whether anybody else
// holds some.
const allRoom = 1 << 30

// Each look at a large state holds room until it is closed, and one that fails none.
func TestLooksGiveRoomBack(t *testing.T) {
	service := state.NewService(memory.New(1<<30), state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	p := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}
	space := bytes.Repeat([]byte(" "), 8<<20)
	for n := range 3 {
		body := fmt.Appendf(nil, `{"version":4,"serial":%d,%s"resources":[]}`, n+1, space)
		if n == 2 {
			body = bytes.Replace(body, []byte("4"), []byte("3"), 1) // can't be read
		}
		if _, err := service.Put(t.Context(), p, "x", state.Write{Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	candidate, err := service.AddCandidate(t.Context(), p, "x", []byte(`{"version":4,"serial":9}`), "")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		look  func() (closer, error)
		fault fault.Code
	}{
		"diff":               {func() (closer, error) { return service.Diff(t.Context(), p, "x", state.DiffQuery{Number: 2}) }, ""},
		"diff that fails":    {func() (closer, error) { return service.Diff(t.Context(), p, "x", state.DiffQuery{Number: 3}) }, fault.StateUnsupported},
		"view":               {func() (closer, error) { return service.View(t.Context(), p, "x", state.RedactedView, 0) }, ""},
		"candidate's, fails": {func() (closer, error) { return service.CandidateDiff(t.Context(), p, "x", candidate.ID, false) }, fault.StateUnsupported},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			open, err := test.look()
			if test.fault != "" {
				if !fault.Is(err, test.fault) {
					t.Errorf("%v, want %s", err, test.fault)
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				if free(t, service) {
					t.Error("it takes no room")
				}
				open.Close()
				open.Close()
			}
			if !free(t, service) {
				t.Error("room is missing afterwards")
			}
		})
	}
}

// free reports whether all room is free now.
func free(t *testing.T, service *state.Service) (all bool) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		release, err := service.Room().Take(ctx, allRoom)
		if all = err == nil; all {
			release()
		}
	})
	return all
}
