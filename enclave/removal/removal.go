// Package removal takes enclaves away at the server: partitions in the reverse order of imports, each by a run that
// destroys what it has made. It keeps nothing: each call looks where things stand, and goes on from there.
package removal

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// Runs are the runs of an organization. *runs.Service is one.
type Runs interface {
	List(ctx context.Context, p auth.Principal, q runs.Query) (runs.Page, error)
	Create(ctx context.Context, p auth.Principal, order api.RunOrder, key string) (runs.Run, error)
}

// Workspaces are the workspaces of an organization. *workspace.Service is one.
type Workspaces interface {
	List(ctx context.Context, p auth.Principal, after string, limit int) ([]workspace.Workspace, string, error)
	OpenFile(ctx context.Context, p auth.Principal, name state.Name, which, path string) (workspace.File, io.Reader, error)
	Delete(ctx context.Context, p auth.Principal, name state.Name) error
}

// States are the states of an organization. *state.Service is one.
type States interface {
	HeadOf(ctx context.Context, ref state.Ref) (state.Head, error)
	Delete(ctx context.Context, p auth.Principal, name state.Name, lockID string) error
}

// Service is the door. What a caller may not do with a workspace or a state, the services beneath refuse.
type Service struct {
	Runs       Runs
	Workspaces Workspaces
	States     States
	Gate       *audit.Gate
}

// member is a partition that is there.
type member struct {
	workspace.Workspace
	needs []string
}

// maxPartitions is how many an enclave may have that is taken away at once.
const maxPartitions = 1000

// Remove goes on with taking an enclave away. Again has what has failed tried again. Faults: DestroyProtected,
// and those of the services.
func (s *Service) Remove(ctx context.Context, p auth.Principal, id string, again bool) (api.EnclaveRemoval, error) {
	said := api.EnclaveRemoval{Enclave: id, Partitions: []api.PartitionRemoval{}}
	if err := s.Gate.Authorize(ctx, p, auth.ApplyRun); err != nil {
		return said, err
	}
	members, err := s.members(ctx, p, id)
	if err != nil {
		return said, err
	}
	for _, m := range members {
		if m.Settings.Protected {
			return said, fault.New(fault.DestroyProtected, "the workspace %s is protected from being destroyed", m.Name)
		}
	}
	left := 0
	for _, m := range members {
		one := api.PartitionRemoval{Partition: strings.TrimPrefix(string(m.Name), id+"/")}
		if user := userOf(m, members); user != "" {
			one.Status, one.Reason = "waiting", user+" imports from it"
		} else if err := s.step(ctx, p, m, again, &one); err != nil {
			return said, err
		}
		if one.Status != "removed" {
			left++
		}
		said.Partitions = append(said.Partitions, one)
	}
	said.Done = left == 0
	return said, nil
}

// userOf is a partition that imports from another one; empty for none.
func userOf(m member, all []member) string {
	for _, other := range all {
		if slices.Contains(other.needs, string(m.Name)) {
			return string(other.Name)
		}
	}
	return ""
}

// members are the partitions of an enclave that a reconcile has made.
func (s *Service) members(ctx context.Context, p auth.Principal, id string) (all []member, err error) {
	prefix := id + "/"
	for after := prefix; ; {
		page, next, err := s.Workspaces.List(ctx, p, after, 100)
		if err != nil {
			return nil, err
		}
		for _, w := range page {
			rest, within := strings.CutPrefix(string(w.Name), prefix)
			if !within && string(w.Name) > prefix {
				return all, nil
			}
			if !within || rest == "" || strings.Contains(rest, "/") || w.Newest.Number == 0 {
				continue
			}
			record, err := s.record(ctx, p, w.Name)
			if err != nil {
				return nil, err
			}
			if record != nil {
				all = append(all, member{w, record.Needs})
			}
		}
		if next == "" || len(all) > maxPartitions {
			return all, nil
		}
		after = next
	}
}

// record is a partition's; nil for a workspace that is none.
func (s *Service) record(ctx context.Context, p auth.Principal, name state.Name) (*enclave.Record, error) {
	_, content, err := s.Workspaces.OpenFile(ctx, p, name, "", enclave.RecordPath)
	if fault.Is(err, fault.FileNotFound) || fault.Is(err, fault.SnapshotNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if closer, ok := content.(io.Closer); ok {
		defer closer.Close()
	}
	text, err := io.ReadAll(io.LimitReader(content, enclave.MaxRecord))
	if err != nil {
		return nil, err
	}
	record, err := enclave.ParseRecord(text)
	if err != nil || record.Path() != string(name) {
		return nil, nil // somebody else's file of that name
	}
	return &record, nil
}

// step does what is next for a partition from which nobody imports.
func (s *Service) step(ctx context.Context, p auth.Principal, m member, again bool, one *api.PartitionRemoval) error {
	head, err := s.States.HeadOf(ctx, state.Ref{Org: p.Org, Name: m.Name})
	if err != nil && !fault.Is(err, fault.StateNotFound) {
		return err
	}
	last, err := s.last(ctx, p, string(m.Name))
	if err != nil {
		return err
	}
	if last != nil {
		one.Run = last.ID
	}
	exists := head.Version.Number > 0 && !head.Deleted
	destroyed := last != nil && last.Kind == runs.Destroy && last.Status == runs.Succeeded &&
		max(last.After, last.Base.Version) == head.Version.Number
	switch {
	case last != nil && !last.Status.Ended():
		one.Status, one.Reason = "waiting", last.Reason
		if last.Kind == runs.Destroy && last.Status != runs.AwaitingApproval {
			one.Status = "destroying"
		}
		return nil
	case exists && !destroyed && failed(last) && !again:
		one.Status, one.Reason = "failed", last.Reason
		return nil
	case exists && !destroyed:
		return s.order(ctx, p, m, one)
	case exists:
		if err := s.States.Delete(ctx, p, m.Name, ""); err != nil {
			return err
		}
	}
	one.Status = "removed"
	return s.Workspaces.Delete(ctx, p, m.Name)
}

// failed reports whether somebody has tried to destroy it in vain.
func failed(last *runs.Run) bool {
	return last != nil && last.Kind == runs.Destroy && last.Status != runs.Succeeded
}

// last is a workspace's newest run that may have changed something; nil where there is none.
func (s *Service) last(ctx context.Context, p auth.Principal, name string) (*runs.Run, error) {
	page, err := s.Runs.List(ctx, p, runs.Query{Workspace: name, Limit: 50})
	for i, run := range page.Runs {
		if run.Kind.Mutates() && !run.Elsewhere {
			return &page.Runs[i], err
		}
	}
	return nil, err
}

// order has a partition destroyed.
func (s *Service) order(ctx context.Context, p auth.Principal, m member, one *api.PartitionRemoval) error {
	order := api.RunOrder{Workspace: string(m.Name), Kind: string(runs.Destroy), Message: "the enclave is taken away",
		AutoApprove: m.Settings.Approvals == 0}
	run, err := s.Runs.Create(ctx, p, order, uuid.NewString())
	one.Status, one.Run = "destroying", run.ID
	return err
}
