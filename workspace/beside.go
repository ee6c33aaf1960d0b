package workspace

import (
	"context"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// besidePrefix begins what names a snapshot beside the row of those that a workspace has had. Nobody
// gets one by its ID alone.
const besidePrefix = "beside-"

// BesideName is how a snapshot is named that PushBeside has made.
func BesideName(e Entry) string { return besidePrefix + e.ID.String() }

// IsBeside reports whether a name is that of a snapshot beside the row.
func IsBeside(which string) bool { return strings.HasPrefix(which, besidePrefix) }

// maxBeside is how many snapshots are kept beside the row: more than that many plans of pull requests go
// on in no workspace at once.
const maxBeside = 200

// PushBeside keeps what a tar.gz has as a snapshot beside the row: for a plan of what may never become the
// workspace's configuration. It is never the newest one, and none that a run takes by itself. Faults: those
// of PushArchive.
func (s *Service) PushBeside(ctx context.Context, p auth.Principal, name state.Name, archive io.Reader,
	message string) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	files, err := s.unpack(ctx, p, ref, archive)
	if err != nil {
		return Entry{}, err
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	snapshot, err := NewSnapshot(files, s.Limits)
	if err != nil {
		return Entry{}, err
	}
	event := s.event(p, ref, ActionConfigure, "snapshot beside the others "+snapshot.ID.String())
	about := Entry{Message: message, CreatedAt: s.clock(), CreatedBy: ActorOf(p)}
	entry, err := s.Store.AddBeside(ctx, ref, snapshot, about, event)
	if err != nil {
		return Entry{}, err
	}
	s.Deliver(ctx, ref.Org)
	s.pruneBeside(context.WithoutCancel(ctx), ref)
	return entry, nil
}

// pruneBeside removes snapshots beyond those that are kept, unless a run needs them.
func (s *Service) pruneBeside(ctx context.Context, ref Ref) {
	all, err := s.Store.Beside(ctx, ref, maxBeside+pruned)
	if err != nil || len(all) <= maxBeside {
		return
	}
	needed := map[string]bool{}
	if s.Runs != nil {
		if needed, err = s.Runs.Needed(ctx, ref.Org, string(ref.Name)); err != nil {
			return
		}
	}
	for _, e := range all[maxBeside:] {
		if needed[BesideName(e)] {
			continue
		}
		if err := s.Store.RemoveEntry(ctx, ref, e.Number); err != nil {
			s.Log.WarnContext(ctx, "an old snapshot of a pull request was not removed", "workspace", string(ref.Name), "number",
				e.Number, "error", err)
			return
		}
	}
}

// beside finds a snapshot by its name.
func (s *Service) beside(ctx context.Context, ref Ref, which string) (Entry, error) {
	id, err := ParseDigest(strings.TrimPrefix(which, besidePrefix))
	if err != nil {
		return Entry{}, err
	}
	all, err := s.Store.Beside(ctx, ref, maxBeside+pruned)
	if err != nil {
		return Entry{}, err
	}
	for _, e := range all {
		if e.ID == id {
			return e, nil
		}
	}
	return Entry{}, fault.New(fault.SnapshotNotFound, "the workspace has no such snapshot of a pull request, or not any more")
}

// RemoveBeside removes a snapshot of a pull request that is over. It is for the server itself.
func (s *Service) RemoveBeside(ctx context.Context, org uuid.UUID, name state.Name, which string) error {
	ref := Ref{Org: org, Name: name}
	e, err := s.beside(ctx, ref, which)
	if err != nil {
		return ignoreMissing(err)
	}
	if s.Runs != nil {
		needed, err := s.Runs.Needed(ctx, org, string(name))
		if err != nil || needed[which] {
			return err
		}
	}
	return s.Store.RemoveEntry(ctx, ref, e.Number)
}

func ignoreMissing(err error) error {
	if fault.Is(err, fault.SnapshotNotFound) || fault.Is(err, fault.WorkspaceNotFound) {
		return nil
	}
	return err
}
