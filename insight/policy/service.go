package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
)

// Service is the door to bundles: every operation names its caller, and touches that caller's organization
// only.
type Service struct {
	Deps
	compiling *turns.Turns
}

// Deps is what a Service stands on.
type Deps struct {
	Store Store
	Gate  *audit.Gate
	Audit audit.Recorder // of refusals that the gate can't know of
	// Deliver puts what was recorded with changes into the audit log; nil for nothing.
	Deliver func(ctx context.Context, org uuid.UUID)
	// Changed is told that other bundles are in force for a workspace, or for all for the empty name; nil for nothing.
	Changed func(ctx context.Context, p auth.Principal, workspace string)
	Now     func() time.Time
	Log     *slog.Logger
}

// What the server spends on bundles that are pushed.
const (
	maxCompiling = 2 // at once
	maxOwn       = 1 // of these, an organization's
	// testPatience is how long all tests of a bundle may take together.
	testPatience = 20 * time.Second
)

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service { return &Service{d, turns.New(maxCompiling, maxOwn)} }

// scoped authorizes what is about the bundles of a workspace, or of the organization for the empty name: who
// may change only some workspaces may not change what holds for all.
func (s *Service) scoped(ctx context.Context, p auth.Principal, right auth.Right, workspace string) error {
	if workspace != "" {
		return s.Gate.AuthorizeOn(ctx, p, right, workspace)
	}
	if right == auth.ManagePolicies {
		return s.Gate.AuthorizeAll(ctx, p, right, "workspaces")
	}
	return s.Gate.Authorize(ctx, p, right)
}

// Permit returns why the caller may not push or remove bundles; nil if they may. Every operation finds out by itself:
// this is for who wants to know before a body is read.
func (s *Service) Permit(ctx context.Context, p auth.Principal, workspace string) error {
	return s.scoped(ctx, p, auth.ManagePolicies, workspace)
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Push makes a version of a bundle, unless the newest one is the same. It is compiled and tested before it
// is kept. Faults: PolicyInvalid, PoliciesFull, Overloaded.
func (s *Service) Push(ctx context.Context, p auth.Principal, workspace, name string, files []File,
	enforce Enforcement, message string) (Bundle, error) {
	if err := s.scoped(ctx, p, auth.ManagePolicies, workspace); err != nil {
		return Bundle{}, err
	}
	if err := CheckName(name); err != nil {
		return Bundle{}, err
	}
	if len(message) > maxMessage {
		return Bundle{}, fault.New(fault.PolicyInvalid, "the message has more than %d bytes", maxMessage)
	}
	made, err := s.tested(ctx, p.Org, files)
	if err != nil {
		return Bundle{}, err
	}
	made.Enforce, made.Message, made.CreatedAt, made.CreatedBy = enforce, message, s.clock(), audit.ActorOf(p)
	made.Wide = p.States == nil
	kept, err := json.Marshal(files)
	if err != nil {
		return Bundle{}, err
	}
	ref := Ref{p.Org, workspace, name}
	return s.update(ctx, p, ref, func(newest *Bundle, bundles int) (Change, error) {
		switch {
		case newest == nil && bundles >= MaxBundles:
			return Change{}, fault.New(fault.PoliciesFull, "the organization has %d bundles of policies, and may have no more",
				bundles)
		case newest != nil && newest.Digest == made.Digest && newest.Enforce == made.Enforce && (newest.Wide || !made.Wide):
			return Change{}, nil
		}
		next := int64(1)
		if newest != nil {
			next = newest.Version + 1
		}
		put := made
		return Change{Put: &put, Files: kept, Event: s.event(p, ref, audit.PolicyPush, message,
			fmt.Sprintf("the bundle %s, version %d, %s, %s", name, next, enforce, made.Digest))}, nil
	})
}

// tested compiles files and runs their tests.
func (s *Service) tested(ctx context.Context, org uuid.UUID, files []File) (Bundle, error) {
	release, err := s.compiling.Acquire(ctx, org)
	if err != nil {
		return Bundle{}, err
	}
	defer release()
	made := Bundle{Digest: DigestOf(files), Files: len(files)}
	for _, f := range files {
		made.Bytes += int64(len(f.Content))
	}
	compiled, err := Compile(files)
	if err != nil || compiled.Set == nil {
		return made, err
	}
	made.Rules = len(compiled.Set.Rules())
	testing, stop := context.WithTimeout(ctx, testPatience)
	defer stop()
	tests, err := compiled.Set.Test(testing)
	if ctx.Err() != nil {
		return made, ctx.Err()
	}
	if err != nil {
		return made, fault.New(fault.PolicyInvalid, "the bundle was not taken: its tests take longer than %s", testPatience)
	}
	made.Tests = len(tests)
	var failed []fault.Detail
	for _, t := range tests {
		if !t.Passed && len(failed) < maxTold {
			failed = append(failed, fault.Detail{Pointer: at(t.File, t.Line), Rule: t.Name + ": " + t.Reason})
		}
	}
	if len(failed) > 0 {
		f := fault.New(fault.PolicyInvalid, "the bundle was not taken: a test fails: %s: %s", failed[0].Pointer,
			failed[0].Rule)
		f.Details = failed
		return made, f
	}
	return made, nil
}

// Remove takes a bundle away with all its versions. To remove it again is accepted.
func (s *Service) Remove(ctx context.Context, p auth.Principal, workspace, name string) error {
	if err := s.scoped(ctx, p, auth.ManagePolicies, workspace); err != nil {
		return err
	}
	if err := CheckName(name); err != nil {
		return err
	}
	ref := Ref{p.Org, workspace, name}
	_, err := s.update(ctx, p, ref, func(newest *Bundle, _ int) (Change, error) {
		if newest == nil {
			return Change{}, nil
		}
		return Change{Remove: true, Event: s.event(p, ref, audit.PolicyRemove, "",
			fmt.Sprintf("the bundle %s, version %d, %s", name, newest.Version, newest.Digest))}, nil
	})
	return err
}

func (s *Service) update(ctx context.Context, p auth.Principal, ref Ref, decide Decide) (Bundle, error) {
	changed := false
	after, err := s.Store.Update(ctx, ref, func(newest *Bundle, bundles int) (Change, error) {
		change, err := decide(newest, bundles)
		changed = change.Put != nil || change.Remove
		return change, err
	})
	if err == nil && s.Deliver != nil {
		s.Deliver(ctx, ref.Org)
	}
	if err == nil && changed && s.Changed != nil {
		s.Changed(context.WithoutCancel(ctx), p, ref.Workspace)
	}
	return after, err
}

func (s *Service) event(p auth.Principal, ref Ref, action audit.Action, reason, note string) *audit.Event {
	return &audit.Event{At: s.clock(), Org: ref.Org, Actor: audit.ActorOf(p), Action: action, State: ref.Workspace,
		Reason: reason, Note: note}
}

// List returns the newest versions of bundles: those in force for a workspace, or those of the
// organization and of every workspace that the caller may see, for the empty name.
func (s *Service) List(ctx context.Context, p auth.Principal, workspace string) ([]Bundle, error) {
	if err := s.scoped(ctx, p, auth.ReadRun, workspace); err != nil {
		return nil, err
	}
	var only []string
	if workspace != "" {
		only = []string{"", workspace}
	}
	all, err := s.Store.List(ctx, p.Org, only...)
	if err != nil {
		return nil, err
	}
	shown := []Bundle{}
	for _, b := range all {
		if b.Workspace == "" || p.States.Match(b.Workspace) {
			shown = append(shown, b)
		}
	}
	return shown, nil
}

// Get returns a version of a bundle with its files, the newest one for 0, and all versions. Fault:
// PolicyNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, workspace, name string,
	version int64) (one Bundle, files []File, all []Bundle, err error) {
	if err := s.scoped(ctx, p, auth.ReadRun, workspace); err != nil {
		return Bundle{}, nil, nil, err
	}
	if err := CheckName(name); err != nil {
		return Bundle{}, nil, nil, err
	}
	ref := Ref{p.Org, workspace, name}
	if all, err = s.Store.Versions(ctx, ref); err != nil {
		return Bundle{}, nil, nil, err
	}
	for _, b := range all {
		if version == 0 || b.Version == version {
			files, err = s.files(ctx, b)
			return b, files, all, err
		}
	}
	return Bundle{}, nil, nil, NotFound(ref, version)
}

// NotFound is the fault of a bundle, or of a version of one, that is not there.
func NotFound(ref Ref, version int64) error {
	if version == 0 {
		return fault.New(fault.PolicyNotFound, "there is no bundle of policies %q", ref.Name)
	}
	return fault.New(fault.PolicyNotFound, "the bundle %q has no version %d, or not any more", ref.Name, version)
}

func (s *Service) files(ctx context.Context, b Bundle) (files []File, err error) {
	raw, err := s.Store.Files(ctx, b.Ref, b.Version)
	if err != nil {
		return nil, err
	}
	return files, json.Unmarshal(raw, &files)
}
