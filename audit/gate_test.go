package audit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// recorder keeps events, or fails to.
type recorder struct {
	events []audit.Event
	err    error
}

func (r *recorder) Record(_ context.Context, event audit.Event) error {
	r.events = append(r.events, event)
	return r.err
}

// Who lacks a right is refused and on record, with the state that it was about; who has it,
// or is nobody, is not.
func TestGate(t *testing.T) {
	org, at := uuid.New(), time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("east", 3600))
	only, err := auth.ParsePatterns("prod/*")
	if err != nil {
		t.Fatal(err)
	}
	reader := auth.Principal{Org: org, KeyID: "k", Grant: auth.Grant{Role: auth.Reader, States: only}}
	for name, test := range map[string]struct {
		caller   auth.Principal
		right    auth.Right
		state    string // empty for none
		code     fault.Code
		recorded bool
	}{
		"may":                {reader, auth.ReadState, "", "", false},
		"may on a state":     {reader, auth.ReadState, "prod/net", "", false},
		"lacks it":           {reader, auth.WriteData, "", fault.RightMissing, true},
		"lacks it on all":    {reader, auth.WriteState, "prod/net", fault.RightMissing, true},
		"has it on others":   {reader, auth.ReadState, "test/net", fault.RightMissing, true},
		"nobody":             {auth.Principal{}, auth.ReadState, "", fault.CredentialsNeeded, false},
		"nobody, on a state": {auth.Principal{}, auth.ReadState, "prod/net", fault.CredentialsNeeded, false},
	} {
		kept := &recorder{}
		ask := func(g *audit.Gate) error {
			if test.state == "" {
				return g.Authorize(t.Context(), test.caller, test.right)
			}
			return g.AuthorizeOn(t.Context(), test.caller, test.right, test.state)
		}
		for _, gate := range []*audit.Gate{audit.NewGate(kept, func() time.Time { return at }), nil} {
			if err := ask(gate); test.code == "" && err != nil || test.code != "" && !fault.Is(err, test.code) {
				t.Errorf("%s: %v, want %q", name, err, test.code)
			}
		}
		if recorded := len(kept.events) == 1; recorded != test.recorded {
			t.Errorf("%s: %d events are on record", name, len(kept.events))
		} else if e := append(kept.events, audit.Event{})[0]; recorded &&
			(e.Org != org || e.Actor.KeyID != "k" || e.State != test.state || e.Note != string(test.right) ||
				e.At != at.UTC().Truncate(time.Microsecond)) {
			t.Errorf("%s: %+v is on record", name, e)
		}
	}
}

// A refusal stays one when it can't be recorded, and says so.
func TestGateThatCannotRecord(t *testing.T) {
	lost := errors.New("the disk is gone")
	gate := audit.NewGate(&recorder{err: lost}, time.Now)
	err := gate.Authorize(t.Context(), auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Reader}},
		auth.WriteState)
	if !fault.Is(err, fault.RightMissing) || !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}
