package server

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/token"
)

// A run's tokens are the same whenever they are made for the same claim, and good while its executor
// has it, however far the clock jumps; afterwards until they expire.
func TestRunTokensGoByTheLease(t *testing.T) {
	w := runworld.New(t)
	tokens := &runTokens{signer: token.NewSigner([token.SecretLength]byte{7}), service: w.Service, now: w.Now}
	w.Tokens = tokens
	caller := auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	order := api.RunOrder{Workspace: "prod/network", Kind: "plan"}
	run, err := w.Create(t.Context(), caller, order, "")
	if err != nil {
		t.Fatal(err)
	}
	run, err = w.Service.Store.Update(t.Context(), run.Ref(), claimedAt(w.Now()))
	if err != nil {
		t.Fatal(err)
	}
	run.Removes, run.Base.Resources = 3, 4
	first, _ := tokens.Sign(run, true)
	if p, err := tokens.VerifyRun(t.Context(), first); err != nil || p.Run.Removes != 3 || p.Run.Resources != 4 {
		t.Errorf("what the plan takes away is not in it: %+v, %v", p.Run, err)
	}
	w.Jump(1000 * time.Hour)
	if again, _ := tokens.Sign(run, true); again != first {
		t.Error("for the same claim there is another token")
	}
	if p, err := tokens.VerifyRun(t.Context(), first); err != nil || !p.Expires.IsZero() {
		t.Errorf("behind a jump of the clock: %v, good until %v", err, p.Expires)
	}
	if _, err := w.Service.Store.Update(t.Context(), run.Ref(), lostSince); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.VerifyRun(t.Context(), first); !fault.Is(err, fault.KeyExpired) {
		t.Errorf("when another executor has the run: %v", err)
	}
}

// claimedAt has an executor apply a run since then.
func claimedAt(at time.Time) runs.Decide {
	return func(r runs.Run) (runs.Change, error) {
		r.Status, r.Stage, r.Epoch, r.LeaseUntil = runs.Applying, runs.ApplyStage, 1, at.Add(time.Minute)
		r.Executor = &runs.Executor{Agent: "a", Since: at}
		return runs.Change{Run: r}, nil
	}
}

// lostSince has another executor have it.
func lostSince(r runs.Run) (runs.Change, error) {
	r.Epoch++
	return runs.Change{Run: r}, nil
}
