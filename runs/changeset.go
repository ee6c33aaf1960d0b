package runs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/runs/changes"
	"github.com/holdfast/holdfast/seal"
)

// planned is what a plan would change.
type planned struct {
	digest  [32]byte
	outline [32]byte
	counts  api.RunCounts
	removes int
}

const sealedChanges seal.Kind = "changes"

// withPlans has use look at what plans change, by their JSON, within what is acquired for them.
func (s *Service) withPlans(ctx context.Context, run Run, refs []FileRef, use func([]*changes.Plan) error) error {
	var files []File
	size := int64(0)
	for _, ref := range refs {
		file, err := s.Store.FileOf(ctx, ref)
		if err != nil {
			return err
		}
		files, size = append(files, file), size+min(file.Size, maxShown)*shownCopies
	}
	hold := s.Memory.Hold(budget.Share{Org: run.Org})
	defer hold.Release()
	if err := hold.Acquire(ctx, size); err != nil {
		return err
	}
	masker, err := s.maskerOf(ctx, run)
	if err != nil {
		return err
	}
	var plans []*changes.Plan
	for _, file := range files {
		plan, err := changes.Parse(s.open(ctx, file), changes.Options{
			Secrets: masker, Limits: changes.Limits{Bytes: s.Limits.FileBytes, Kept: maxShown}, RefreshOnly: run.RefreshOnly(),
		})
		if err != nil {
			return err
		}
		plans = append(plans, plan)
	}
	return use(plans)
}

// beyondApproved says in what a plan goes beyond the one that was applied in part before it; empty
// where it doesn't, or is no such plan.
func (s *Service) beyondApproved(ctx context.Context, run Run) (beyond string, err error) {
	if !run.isPart() {
		return "", nil
	}
	next, approved := FileRef{run.Ref(), FilePlanJSON, run.Attempt},
		FileRef{Ref{run.Org, run.Earlier.Run}, FilePlanJSON, run.Earlier.Planned}
	if _, err := s.Store.FileOf(ctx, approved); fault.Is(err, fault.RunFileNotFound) {
		return "the plan that was approved is not kept any more", nil
	}
	err = s.withPlans(ctx, run, []FileRef{next, approved}, func(plans []*changes.Plan) error {
		_, beyond = plans[0].SubsetOf(plans[1])
		return nil
	})
	return beyond, err
}

// readChanges reads the plan's JSON, and keeps what people are shown of it.
func (s *Service) readChanges(ctx context.Context, run Run) (found planned, err error) {
	err = s.withPlans(ctx, run, []FileRef{{run.Ref(), FilePlanJSON, run.Attempt}}, func(plans []*changes.Plan) error {
		found, err = s.keepChanges(ctx, run, plans[0])
		return err
	})
	return found, err
}

func (s *Service) keepChanges(ctx context.Context, run Run, plan *changes.Plan) (planned, error) {
	key, err := s.Seals.Sum(ctx, run.Org, sealedChanges)
	if err != nil {
		return planned{}, err
	}
	found := planned{digest: plan.Digest(keyed(key)), outline: plan.Outline, counts: countsOf(plan),
		removes: plan.Removes()}
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
