package runs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// looked is a store in which another look at a plan begins before the first one ends.
type looked struct {
	runs.Store
	twice bool
}

func (s *looked) CompleteFile(ctx context.Context, file runs.File, upload string,
	allow func(runs.Run) error) (runs.File, error) {
	if file.Kind == runs.FileChanges && !s.twice {
		s.twice = true
		if err := s.PutPiece(ctx, file.FileRef, "another", 0, []byte("x")); err != nil {
			return runs.File{}, err
		}
	}
	return s.Store.CompleteFile(ctx, file, upload, allow)
}

// A plan that is looked at twice at once, as its executor has repeated its report, is not refused.
func TestLookingTwiceRefusesNoPlan(t *testing.T) {
	l := newLogged(t)
	l.World.Deps.Store = &looked{Store: l.World.Deps.Store}
	l.Restart()
	as, err := l.World.VerifyRun(t.Context(), l.Token)
	l.must(err)
	l.Renew("plan")
	for kind, content := range runworld.PlanFiles(1) {
		sum := sha256.Sum256(content)
		_, err := l.PutFile(t.Context(), as, l.Run, api.Artefact{Kind: kind, Attempt: 1, Digest: hex.EncodeToString(sum[:])},
			bytes.NewReader(content))
		l.must(err)
	}
	report := api.PhaseReport{Epoch: l.Epoch, Stage: l.Stage, Attempt: 1, Phase: "show", Outcome: "succeeded", Last: true,
		Tool: runworld.Tool()}
	if _, err := l.World.Report(t.Context(), as, l.Run, report); !fault.Is(err, fault.UploadReplaced) {
		t.Errorf("the first look: %v", err)
	}
	_, err = l.World.Report(t.Context(), as, l.Run, report)
	l.must(err)
	if run, err := l.Get(t.Context(), l.caller, l.Run); err != nil || run.Status != runs.Succeeded {
		t.Errorf("the run is %s: %s, %v", run.Status, run.Reason, err)
	}
}
