package state_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// keepsBack has whatever the guards find something in kept back.
type keepsBack struct{}

func (keepsBack) Policy(uuid.UUID, string) state.Policy {
	policy := state.DefaultPolicy()
	policy.Guards = state.GuardsHold
	return policy
}

func TestImport(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	service := state.NewService(memory.New(1<<20), keepsBack{}, func() time.Time { return now },
		slog.New(slog.DiscardHandler))
	owner := auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	writer := auth.Principal{Org: owner.Org, KeyID: "w", Grant: auth.Grant{Role: auth.Writer}}
	body := func(serial int) []byte {
		return fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"l%d"}`, serial, serial)
	}
	at := func(day int) time.Time { return time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC) }
	bring := func(p auth.Principal, after uint64, serial, day int) (state.Version, error) {
		return service.Import(t.Context(), p, "x",
			state.Import{Body: body(serial), At: at(day), After: after, Source: "from elsewhere"})
	}
	for i, c := range []struct {
		p           auth.Principal
		after       uint64
		serial, day int
		number      uint64
		fault       fault.Code
	}{
		{writer, 0, 1, 1, 0, fault.RightMissing},
		{owner, 1, 1, 1, 0, fault.CandidateStale},
		{owner, 0, 1, 1, 1, ""},
		{owner, 0, 1, 1, 1, ""}, // the answer got lost
		{owner, 1, 2, 2, 2, ""}, // another lineage, which the guards keep back from anybody else
		{owner, 0, 1, 1, 1, ""}, // and again, late
		{owner, 1, 3, 3, 0, fault.CandidateStale},
		{owner, 2, 3, 1, 0, fault.ImportTooOld},
		{owner, 2, 3, 5000, 0, fault.ParameterInvalid}, // in the future
		{owner, 2, 3, 2, 3, ""},
	} {
		got, err := bring(c.p, c.after, c.serial, c.day)
		if got.Number != c.number || c.fault != "" && !fault.Is(err, c.fault) || c.fault == "" && err != nil {
			t.Errorf("step %d: version %d, %v; want %d, %s", i, got.Number, err, c.number, c.fault)
		}
		if c.number > 0 && (!got.CreatedAt.Equal(at(c.day)) || got.Origin.Reason != "from elsewhere" ||
			got.Author.KeyID != "k") {
			t.Errorf("step %d: %+v", i, got)
		}
	}
	events, err := service.Events(t.Context(), owner, audit.Query{Action: audit.StateImport, Limit: 10})
	if err != nil || len(events.Events) != 3 || events.Events[0].Version != 3 || !events.Events[0].At.Equal(now) ||
		events.Events[0].Reason != "from elsewhere" {
		t.Errorf("on record: %+v, %v", events, err)
	}
}

// What was written here is not replaced by what is older, and neither is what somebody holds.
func TestImportSparesWhatIsThere(t *testing.T) {
	service := state.NewService(memory.New(1<<20), state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	owner := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}
	old := state.Import{Body: []byte(`{"serial":7}`), At: time.Unix(1e9, 0), After: 1, Source: "s"}
	if _, err := service.Put(t.Context(), owner, "x", state.Write{Body: []byte(`{"serial":1}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Import(t.Context(), owner, "x", old); !fault.Is(err, fault.ImportTooOld) {
		t.Errorf("over a newer version: %v", err)
	}
	if _, err := service.Lock(t.Context(), owner, "y", state.LockInfo{ID: "a", Raw: []byte(`{"ID":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	old.After = 0
	if _, err := service.Import(t.Context(), owner, "y", old); !fault.Is(err, fault.LockHeld) {
		t.Errorf("while somebody holds the lock: %v", err)
	}
	old.LockID = "a"
	if got, err := service.Import(t.Context(), owner, "y", old); err != nil || got.Number != 1 {
		t.Errorf("by the lock's holder: %v", err)
	}
}

// What was deleted here stays so, and nobody is told that it is there.
func TestImportSparesWhatWasDeleted(t *testing.T) {
	service := state.NewService(memory.New(1<<20), state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	owner := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}
	bring := func(after uint64, want fault.Code) {
		t.Helper()
		body := fmt.Appendf(nil, `{"version":4,"serial":%d,"lineage":"l"}`, after)
		got, err := service.Import(t.Context(), owner, "x",
			state.Import{Body: body, At: time.Unix(1e9, 0), After: after, Source: "s"})
		if want == "" && (err != nil || got.Number != after+1) || want != "" && !fault.Is(err, want) {
			t.Errorf("behind %d: version %d, %v; want %s", after, got.Number, err, want)
		}
	}
	bring(0, "")
	bring(1, "")
	if err := service.Delete(t.Context(), owner, "x", ""); err != nil {
		t.Fatal(err)
	}
	for after := range uint64(3) {
		bring(after, fault.ImportTooOld)
	}
	if _, err := service.Undelete(t.Context(), owner, "x"); err != nil {
		t.Fatal(err)
	}
	for after := range uint64(3) {
		bring(after, "")
	}
}
