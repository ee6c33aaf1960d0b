package handlers

import (
	"cmp"
	"context"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// list shows the organization's states: those that exist, that are deleted, or both.
func (s states) list(ctx context.Context, r *request) (answer, error) {
	q := state.StatesQuery{Prefix: r.text("prefix"), Contains: strings.ToLower(r.text("contains")),
		Direct: r.flag("direct"), Held: r.flag("held")}
	if r.values.Get("deleted") == "any" {
		q.Deleted = state.AnyDeletion
		r.text("deleted")
	} else if r.flag("deleted") {
		q.Deleted = state.OnlyDeleted
	}
	return s.page(ctx, r, q)
}

// folders shows how the names of states go on behind a prefix, with how many there are of each.
func (s states) folders(ctx context.Context, r *request) (answer, error) {
	q := state.FoldersQuery{Prefix: r.text("prefix"), After: state.Name(r.text("cursor")), Limit: r.limit()}
	if q.Prefix != "" && !strings.HasSuffix(q.Prefix, "/") {
		r.invalid(`the query's prefix is a folder's: it ends with a "/"`)
	}
	r.check(s.service.PermitAll(ctx, r.caller, auth.ReadMetadata))
	return s.lists.answer(ctx, r, foldersBytes(q.Limit), func() (listing, error) {
		found, next, err := s.service.Folders(ctx, r.caller, q)
		return listOf(api.Folders{Folders: []api.Folder{}, Next: orNull(string(next))}, "folders", found, folderBytes,
			func(f state.Folder) api.Folder { return api.Folder(f) }), err
	})
}

// graph shows which resource of a state needs which.
func (s states) graph(ctx context.Context, r *request, name state.Name) (answer, error) {
	number := r.number("version")
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := s.service.View(ctx, r.caller, name, state.GraphView, number)
	if err != nil {
		return nil, err
	}
	return rendered{mediaJSON, made, numbers(made.Version)}, nil
}

// locks shows the states of the organization whose lock is held.
func (s states) locks(ctx context.Context, r *request) (answer, error) {
	return s.page(ctx, r, state.StatesQuery{Locked: true})
}

func (s states) page(ctx context.Context, r *request, q state.StatesQuery) (answer, error) {
	q.After, q.Limit = state.Name(r.text("cursor")), r.limit()
	r.check(s.service.PermitAll(ctx, r.caller, auth.ReadMetadata))
	return s.lists.answer(ctx, r, statesBytes(), func() (listing, error) {
		page, err := s.service.States(ctx, r.caller, q)
		return listingOf(api.States{States: []api.State{}, Next: orNull(string(page.Next))}, "states", page.States,
			s.describer(r).stateOf), err
	})
}

// versions describes a state's versions.
func (s states) versions(ctx context.Context, r *request, name state.Name) (answer, error) {
	before, limit := r.number("before"), r.limit()
	r.check(s.service.Permit(ctx, r.caller, auth.ReadMetadata, name))
	return s.lists.answer(ctx, r, rowsBytes(limit), func() (listing, error) {
		versions, err := s.service.Versions(ctx, r.caller, name, before, limit)
		var next *uint64
		if len(versions) == limit && versions[limit-1].Number > 1 {
			next = &versions[limit-1].Number
		}
		return listingOf(api.Versions{Versions: []api.Version{}, Next: next}, "versions", versions, s.describer(r).versionOf),
			err
	})
}

// version sends the exact bytes of one version.
func (s states) version(ctx context.Context, r *request, name state.Name) (answer, error) {
	number := r.version()
	if err := r.err(); err != nil {
		return nil, err
	}
	return s.bytes(ctx, r, name, number)
}

// purge destroys the bytes of one version, or of all that have the same, and what the index
// of resources has of them. It says which others have them still.
func (s states) purge(ctx context.Context, r *request, name state.Name) (answer, error) {
	ask := state.Purging{Number: r.version(), Copies: r.flag("copies"), Reason: r.reason()}
	if err := r.err(); err != nil {
		return nil, err
	}
	purged, err := s.destroy(ctx, r, name, ask)
	said := api.Purged{Status: success, AlsoIn: purged.AlsoIn, More: purged.More}
	if ask.Copies {
		said.Purged = purged.Destroyed
	}
	return tell(said), err
}

func (s states) destroy(ctx context.Context, r *request, name state.Name, ask state.Purging) (state.Purged, error) {
	purged, err := s.service.Destroy(ctx, r.caller, name, ask)
	if len(purged.Destroyed) > 0 && s.index != nil { // also where the caller is told to ask again
		err = cmp.Or(err, s.index.Erase(ctx, r.caller, name, purged))
	}
	return purged, err
}

// rollback makes the content of an older version the newest.
func (s states) rollback(ctx context.Context, r *request, name state.Name) (answer, error) {
	number, o, only := r.version(), r.order(needsReason), r.condition()
	if err := r.err(); err != nil {
		return nil, err
	}
	version, err := s.service.RollbackIf(ctx, r.caller, name, number, o.Reason, o.LockID, only)
	return tell(s.describer(r).versionOf(version)), err
}

// undelete brings a deleted state back.
func (s states) undelete(ctx context.Context, r *request, name state.Name) (answer, error) {
	version, err := s.service.Undelete(ctx, r.caller, name)
	return tell(s.describer(r).versionOf(version)), err
}

// release frees somebody else's lock.
func (s states) release(ctx context.Context, r *request, name state.Name) (answer, error) {
	o := r.order(needsReason)
	if err := r.err(); err != nil {
		return nil, err
	}
	released, err := s.service.ForceUnlock(ctx, r.caller, name, state.Forcing{LockID: o.LockID, Reason: o.Reason})
	return tell(api.Released{Status: success, Released: lockOf(released)}), err
}

// events shows the audit log.
func (s states) events(ctx context.Context, r *request) (answer, error) {
	q := audit.Query{
		Action: audit.Action(r.text("action")), State: r.text("state"), KeyID: r.text("key"),
		Since: r.time("since"), Until: r.time("until"), Before: r.number("before"), Limit: r.limit(),
	}
	r.check(s.service.PermitAll(ctx, r.caller, auth.ReadAudit))
	return s.lists.answer(ctx, r, rowsBytes(q.Limit), func() (listing, error) {
		page, err := s.service.Events(ctx, r.caller, q)
		var below *uint64
		if page.Next > 0 {
			below = &page.Next
		}
		return listingOf(api.Events{Events: []api.Event{}, Next: below}, "events", page.Events, eventOf), err
	})
}
