package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/runs/planfile"
)

// check looks at what an executor has planned: the server believes the plan file, not whoever
// brought it. It can be repeated until the run has left Checking.
func (s *Service) check(ctx context.Context, run Run) (Run, error) {
	found, err := s.inspect(ctx, run)
	if isRefusal(err) {
		return s.update(ctx, run.Ref(), s.by(Server()).refuse(run.Epoch, fault.From(err).Message))
	}
	if err != nil {
		return Run{}, err
	}
	found.epoch = run.Epoch
	verdict, err := s.judge(ctx, run, found)
	if err != nil {
		return Run{}, err
	}
	if verdict.Refused != "" {
		return s.update(ctx, run.Ref(), s.by(Server()).refuse(run.Epoch, verdict.Refused))
	}
	found.gates, found.confirm = verdict.Reasons, verdict.Confirm
	_, found.outside = s.decider(run.Org)
	if found.now, found.revision, err = s.now(ctx, run); err != nil {
		return Run{}, err
	}
	after, err := s.update(ctx, run.Ref(), s.by(Server()).planned(found))
	return after, err
}

// isRefusal reports whether the plan is at fault, and not we.
func isRefusal(err error) bool {
	if err == nil || fault.Is(err, fault.UploadReplaced) { // by another look at the same plan
		return false
	}
	switch fault.From(err).Code.Kind() {
	case fault.Invalid, fault.Unprocessable, fault.TooLarge, fault.NotFound, fault.Conflict:
		return true
	}
	return false
}

// refuse ends a run whose plan is not one of it.
func (c call) refuse(epoch int64, reason string) Decide {
	return func(r Run) (Change, error) {
		if r.Status != Checking || r.Epoch != epoch {
			return nothing(r)
		}
		m := c.change(r)
		m.run.Phase = PhaseCheck
		return m.to(Failed, "the plan was refused: "+reason).because(EventEnded, reason).done()
	}
}

// inspect reads the plan's files and makes the pin.
func (s *Service) inspect(ctx context.Context, run Run) (result, error) {
	tool := run.Executor.Tool
	if tool == nil {
		return result{}, fault.New(fault.PlanRefused, "its executor has not said which tool it used")
	}
	pin := run.newPin(*tool)
	planned, err := s.readChanges(ctx, run)
	if err != nil {
		return result{}, err
	}
	if err := s.verifyPlan(ctx, run, pin, planned.outline); err != nil {
		return result{}, err
	}
	pin.Changes = hex.EncodeToString(planned.digest[:])
	inputs, _, err := s.inputsOf(ctx, run)
	if err != nil {
		return result{}, err
	}
	if pin.Inputs, err = s.inputsDigest(ctx, run, inputs); err != nil {
		return result{}, err
	}
	policies, err := s.policies(ctx, run)
	if err != nil {
		return result{}, err
	}
	pin.Policies = policies.Digest()
	pin.Digest = digestOf(*pin)
	beyond, err := s.beyondApproved(ctx, run)
	return result{pin: pin, counts: planned.counts, removes: planned.removes, beyond: beyond, policies: policies}, err
}

// newPin has what the run itself knows of it.
func (r Run) newPin(tool api.Tool) *api.Pin {
	pin := &api.Pin{}
	pin.State.Version, pin.State.Lineage, pin.State.Serial, pin.State.Digest = r.Base.Version, r.Base.Lineage,
		r.Base.Serial, r.Base.Digest
	pin.Config.Snapshot, pin.Config.Directory = r.Order.Snapshot, r.Terms.Directory
	pin.Tool.Name, pin.Tool.Version, pin.Tool.Digest, pin.Tool.System = tool.Name, tool.Version, tool.Digest, tool.System
	pin.Tool.Calls = tool.Calls
	return pin
}

// digestOf is what an approval names: the SHA-256 of the pin's JSON without the digest itself.
func digestOf(pin api.Pin) string {
	pin.Digest = ""
	raw, err := json.Marshal(pin)
	if err != nil {
		panic(err) // a pin has nothing that JSON can't say
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// inputsDigest tells apart runs that were given other variables or options, and tells nothing
// else about them.
func (s *Service) inputsDigest(ctx context.Context, run Run, inputs Inputs) (string, error) {
	options, err := json.Marshal([]any{run.Kind, run.Order.Targets, run.Order.Replace, run.Order.NoRefresh,
		run.RefreshOnly(), run.Terms.Parallelism})
	if err != nil {
		return "", err
	}
	sum, err := s.Seals.Sum(ctx, run.Org, "inputs", []byte(inputs.Digest), options)
	return hex.EncodeToString(sum[:]), err
}

// verifyPlan opens the plan file, and compares it with what was to be planned, and with the
// outline of the changes that people are shown.
func (s *Service) verifyPlan(ctx context.Context, run Run, pin *api.Pin, outline planfile.Digest) error {
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlan, run.Attempt})
	if err != nil {
		return err
	}
	hold := s.Memory.Hold(budget.Share{Org: run.Org})
	defer hold.Release()
	if err := hold.Acquire(ctx, file.Size); err != nil {
		return err
	}
	plain, err := io.ReadAll(s.open(ctx, file))
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(plain); hex.EncodeToString(sum[:]) != file.Digest {
		return fault.New(fault.PlanRefused, "the plan file that was kept is not the one whose digest its executor gave")
	}
	facts, err := s.planFacts(plain)
	if err != nil {
		return err
	}
	want, err := s.wanted(ctx, run, *pin)
	if err != nil {
		return err
	}
	want.Outline = &outline
	if facts.Encrypted {
		pin.Unchecked = []string{"state", "config", "lock_file", "tool", "changes"}
	}
	pin.Plan = file.Digest
	if err := s.pinFiles(ctx, run, pin); err != nil {
		return err
	}
	return facts.Match(want)
}

func (s *Service) planFacts(plain []byte) (planfile.Facts, error) {
	return planfile.Inspect(bytes.NewReader(plain), int64(len(plain)), planfile.Limits{Size: s.Limits.PlanBytes})
}

// wanted is what the plan file must have been made of.
func (s *Service) wanted(ctx context.Context, run Run, pin api.Pin) (planfile.Want, error) {
	files, err := s.Workspaces.Files(ctx, run.Org, run.Workspace, run.Order.Snapshot)
	if err != nil {
		return planfile.Want{}, err
	}
	planner := api.Tool{Name: pin.Tool.Name, Version: pin.Tool.Version}
	if pin.Tool.Calls != nil {
		planner = *pin.Tool.Calls
	}
	want := planfile.Want{
		Lineage: run.Base.Lineage, Serial: run.Base.Serial, Absent: run.Base.Version == 0,
		Config: map[string]planfile.Digest{}, WorkDir: run.Terms.Directory,
		Tool: planner.Name, ToolVersion: planner.Version, LockFile: planfile.NoLockFile(),
		AllowEncrypted: true,
	}
	for name, text := range files {
		var sum planfile.Digest
		if n, err := hex.Decode(sum[:], []byte(text)); err != nil || n != len(sum) {
			return planfile.Want{}, fault.New(fault.InternalError, "a snapshot's file has the digest %q", text)
		}
		want.Config[name] = sum
	}
	want.Config[path.Join(run.Terms.Directory, backend.File)] = sha256.Sum256(backend.Content())
	if pin.Tool.Calls != nil && run.Terms.Tool == "terragrunt" { // what an executor says is not enough
		if err := s.addMade(ctx, run, &want); err != nil {
			return planfile.Want{}, err
		}
	}
	lock, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FileLock, run.Attempt})
	if fault.Is(err, fault.RunFileNotFound) {
		return want, nil
	}
	if err != nil {
		return planfile.Want{}, err
	}
	text, err := io.ReadAll(s.open(ctx, lock))
	want.LockFile = planfile.LockFileDigest(text)
	return want, err
}

// addMade adds what Terragrunt has made of the configuration to what a plan must have been made of: files that it
// generates, and the folder in which it has its tool work. They are pinned with the plan, for its apply.
func (s *Service) addMade(ctx context.Context, run Run, want *planfile.Want) error {
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlanFiles, run.Attempt})
	if fault.Is(err, fault.RunFileNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	made, err := archive.Sums(s.open(ctx, file), archive.Limits{Files: maxMade, Bytes: s.Limits.FileBytes})
	if invalid, ok := errors.AsType[*archive.InvalidError](err); ok {
		return fault.Wrap(err, fault.PlanRefused, "the files that Terragrunt made can't be read: %s", invalid.Why)
	}
	if err != nil {
		return err
	}
	maps.Copy(want.Config, made)
	want.WorkDir = backend.WorkDir(made, path.Clean(want.WorkDir))
	return nil
}

// maxMade is how many files planning may make.
const maxMade = 10_000

// pinFiles pins what an apply starts from beside the plan.
func (s *Service) pinFiles(ctx context.Context, run Run, pin *api.Pin) error {
	files, err := s.Store.FilesOf(ctx, run.Ref())
	if err != nil {
		return err
	}
	for _, f := range files {
		switch {
		case f.Attempt != run.Attempt:
		case f.Kind == FileLock:
			pin.LockFile = f.Digest
		case f.Kind == FilePlanFiles:
			pin.PlanFiles = f.Digest
		}
	}
	return nil
}
