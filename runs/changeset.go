package runs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/runs/changes"
	"github.com/holdfast/holdfast/seal"
)

// planned is what a plan would change.
type planned struct {
	digest  [32]byte
	outline [32]byte
	counts  api.RunCounts
}

const sealedChanges seal.Kind = "changes"

// readChanges reads the plan's JSON, and keeps what people are shown of it.
func (s *Service) readChanges(ctx context.Context, run Run) (planned, error) {
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlanJSON, run.Attempt})
	if err != nil {
		return planned{}, err
	}
	hold := s.Memory.Hold(budget.Share{Org: run.Org})
	defer hold.Release()
	if err := hold.Acquire(ctx, min(file.Size, maxShown)*shownCopies); err != nil {
		return planned{}, err
	}
	plan, err := changes.Parse(s.open(ctx, file), changes.Options{
		Limits: changes.Limits{Bytes: s.Limits.FileBytes, Kept: maxShown}, RefreshOnly: run.Kind == Refresh || run.Kind == Drift,
	})
	if err != nil {
		return planned{}, err
	}
	key, err := s.Seals.Sum(ctx, run.Org, sealedChanges)
	if err != nil {
		return planned{}, err
	}
	found := planned{digest: plan.Digest(keyed(key)), outline: plan.Outline, counts: countsOf(plan)}
	raw, err := json.Marshal(shown(plan, found.counts))
	if err != nil {
		return planned{}, err
	}
	coming := incoming{ref: FileRef{run.Ref(), FileChanges, run.Attempt}, allow: func(Run) error { return nil }}
	_, err = s.put(ctx, coming, bytes.NewReader(raw))
	return found, err
}

// maxShown is how many bytes of values are kept to be shown.
const maxShown = 16 << 20

// shownCopies is how often what is shown of a plan is in memory while it is made: as it was read,
// masked, and as JSON.
const shownCopies = 4

func countsOf(p *changes.Plan) api.RunCounts {
	c := p.Counts
	return api.RunCounts{
		Add: c.Add, Change: c.Change, Destroy: c.Destroy, Replace: c.Replace, Import: c.Import, Forget: c.Forget,
		Move: c.Move, Drift: c.Drift, Outputs: c.Outputs, Any: p.Any(),
	}
}

// shown is the plan as people are shown it.
func shown(p *changes.Plan, counts api.RunCounts) api.RunChanges {
	all := api.RunChanges{
		Counts: counts, Changes: []api.RunChange{}, Drift: []api.RunChange{}, Outputs: []api.RunOutputChange{}, Cut: p.Cut,
	}
	for _, c := range p.Changes {
		all.Changes = append(all.Changes, changeOf(c))
	}
	for _, c := range p.Drift {
		all.Drift = append(all.Drift, changeOf(c))
	}
	for _, o := range p.Outputs {
		all.Outputs = append(all.Outputs, api.RunOutputChange{
			Name: o.Name, Actions: o.Actions, Sensitive: o.Sensitive, Before: orNull(o.Before), After: orNull(o.After),
		})
	}
	return all
}

func changeOf(c changes.Change) api.RunChange {
	made := api.RunChange{
		Address: c.Address, Previous: c.PreviousAddress, Deposed: c.Deposed, Mode: c.Mode, Type: c.Type, Name: c.Name,
		Provider: c.Provider, Actions: c.Actions, Reason: c.ActionReason, Because: c.ReplacePaths,
		Before: orNull(c.Before), After: orNull(c.After), Unknown: c.AfterUnknown,
	}
	if c.Importing != nil {
		made.Import = c.Importing.ID
	}
	return made
}

func orNull(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage("null")
	}
	return value
}

// keyed returns a keyed hash of data, as long as each part of it is told apart by its length.
func keyed(key [32]byte) func(data ...[]byte) [32]byte {
	return func(data ...[]byte) (sum [32]byte) {
		mac := hmac.New(sha256.New, key[:])
		for _, part := range data {
			_ = binary.Write(mac, binary.BigEndian, uint64(len(part))) // a hash takes everything
			mac.Write(part)
		}
		mac.Sum(sum[:0])
		return sum
	}
}
