package workspace

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// Edit is what a change of single files builds on. The zero Edit builds on whatever there is.
type Edit struct {
	// Parent is the number of the snapshot that the newest one must be; nil for any.
	Parent *int64
	// Base are the contents one of which the file must have; nil for any. Absent says that there
	// must be no such file.
	Base   []Digest
	Absent bool
	// KeepMode says that a file which is there already stays executable, or not, as it was.
	KeepMode bool
	// Draft says that more is to follow: an editor saves each second. The next draft of the same
	// author takes this one's place among the snapshots, unless a run needs it.
	Draft bool
}

// draftMessage marks the snapshot of a draft. Nobody else may give it.
const draftMessage = "a draft: edited file by file"

// Draft reports whether the snapshot is one of those that an editor saves.
func (e Entry) Draft() bool { return e.Message == draftMessage }

// IsDraft reports whether a snapshot is a draft, and none that is not has the same files. It is for the server itself.
// Its faults are those of Files.
func (s *Service) IsDraft(ctx context.Context, org uuid.UUID, name state.Name, which string) (bool, error) {
	ref := Ref{Org: org, Name: name}
	named, err := s.find(ctx, ref, which)
	if err != nil || !named.Draft() {
		return false, err
	}
	newest, err := s.Store.Entry(ctx, ref, 0, named.ID)
	if err != nil || !newest.Draft() {
		return false, err
	}
	before, err := s.Store.Entries(ctx, ref, newest.Number, draftsAtOnce)
	return !slices.ContainsFunc(before, func(e Entry) bool { return !e.Draft() && e.ID == named.ID }), err
}

// message is what the snapshot of an edit says.
func (e Edit) message(what string) string {
	if e.Draft {
		return draftMessage
	}
	return what
}

// check refuses to write over what the editor has not seen. The fault's details say what is there.
func (e Edit) check(newest Snapshot, at Entry, path string) error {
	if e.Base == nil && !e.Absent {
		return nil
	}
	f, err := newest.File(path)
	there := err == nil
	if e.Absent && !there {
		return nil
	}
	for _, base := range e.Base {
		if there && f.Digest == base {
			return nil
		}
	}
	theirs := ""
	if there {
		theirs = f.Digest.String()
	}
	moved := fault.New(fault.FileChanged,
		"somebody else has changed %.200q: it is not, or not any more, what this builds on", path)
	moved.Details = []fault.Detail{
		{Pointer: "theirs", Rule: theirs}, {Pointer: "snapshot", Rule: strconv.FormatInt(at.Number, 10)},
		{Pointer: "by", Rule: at.CreatedBy.KeyID}, {Pointer: "at", Rule: at.CreatedAt.UTC().Format("2006-01-02T15:04:05Z")},
	}
	return moved
}

// moved reports whether the file that the edit names is where a move would have brought it.
func (e Edit) moved(newest Snapshot, to string) bool {
	f, err := newest.File(to)
	return err == nil && slices.Contains(e.Base, f.Digest)
}

// PutFileIf is PutFile of a file that is as the edit says. Faults: those of PutFile, FileChanged.
func (s *Service) PutFileIf(ctx context.Context, p auth.Principal, name state.Name, file File, content io.Reader,
	e Edit) (Entry, File, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, File{}, err
	}
	if _, err := s.Store.Workspace(ctx, ref); err != nil {
		return Entry{}, File{}, err
	}
	if err := CheckPath(file.Path); err != nil {
		return Entry{}, File{}, err
	}
	if err := s.checkStored(ctx, p.Org); err != nil {
		return Entry{}, File{}, err
	}
	if file, err = s.putFile(ctx, p, file, content); err != nil {
		return Entry{}, File{}, err
	}
	made, err := s.edit(ctx, p, ref, e, "put "+file.Path, func(newest Snapshot, at Entry) ([]File, error) {
		was, err := newest.File(file.Path)
		if err == nil && e.KeepMode {
			file.Executable = was.Executable
		}
		if err == nil && was == file {
			return newest.Files, nil // it is there already, perhaps of the same call before
		}
		return newest.with(file), e.check(newest, at, file.Path)
	})
	return made, file, err
}

func (s *Service) putFile(ctx context.Context, p auth.Principal, file File, content io.Reader) (File, error) {
	hold := s.hold(p.Org)
	defer hold.Release()
	err := hold.Acquire(ctx, streamedBytes)
	if err == nil {
		file.Digest, file.Size, err = s.put(ctx, p.Org, file.Path, checked(file.Path, content))
	}
	return file, err
}

// RemoveFileIf is RemoveFile of a file that is as the edit says. Faults: FileNotFound, FileChanged.
func (s *Service) RemoveFileIf(ctx context.Context, p auth.Principal, name state.Name, path string,
	e Edit) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	return s.edit(ctx, p, ref, e, "remove "+path, func(newest Snapshot, at Entry) ([]File, error) {
		if _, err := newest.File(path); err != nil {
			return nil, err
		}
		return newest.without(path), e.check(newest, at, path)
	})
}

// MoveFile gives a file that is as the edit says another path, where there is no file. Faults:
// FileNotFound, FileTwice, FileChanged.
func (s *Service) MoveFile(ctx context.Context, p auth.Principal, name state.Name, from, to string,
	e Edit) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	if err := CheckPath(to); err != nil {
		return Entry{}, err
	}
	return s.edit(ctx, p, ref, e, "move "+from+" to "+to, func(newest Snapshot, at Entry) ([]File, error) {
		f, err := newest.File(from)
		if err != nil {
			if e.moved(newest, to) {
				return newest.Files, nil // by the same call before
			}
			return nil, err
		}
		if err := e.check(newest, at, from); err != nil {
			return nil, err
		}
		if _, err := newest.File(to); err == nil && from != to {
			return nil, fault.New(fault.FileTwice, "there is a file %.200q already", to)
		}
		moved := f
		moved.Path = to
		return append(newest.without(from), moved), nil
	})
}

// draftsAtOnce is how many snapshots before a draft are looked at: to take older drafts away, and for the same files.
const draftsAtOnce = 100

// dropDrafts takes the drafts away whose place a newer one of the same author has taken. Those of
// the last while stay: a run that is being made may have chosen one. What it can't, the next save
// does.
func (s *Service) dropDrafts(ctx context.Context, ref Ref, newest Entry) {
	if !newest.Draft() {
		return
	}
	before, err := s.Store.Entries(ctx, ref, newest.Number, draftsAtOnce)
	var old []Entry
	for _, e := range before {
		if !e.Draft() || e.CreatedBy != newest.CreatedBy {
			break
		}
		if s.clock().Sub(e.CreatedAt) >= s.Limits.DraftAge {
			old = append(old, e)
		}
	}
	if err != nil || len(old) == 0 {
		return
	}
	needed := map[string]bool{}
	if s.Runs != nil {
		if needed, err = s.Runs.Needed(ctx, ref.Org, string(ref.Name)); err != nil {
			return
		}
	}
	for _, e := range old {
		if needed[e.ID.String()] {
			continue
		}
		if err := s.Store.RemoveEntry(ctx, ref, e.Number); err != nil {
			s.Log.WarnContext(ctx, "an old draft of a configuration was not removed", "workspace", string(ref.Name), "number",
				e.Number, "error", err)
			return
		}
	}
}

// quiet reports whether a draft needs no line of its own in the audit log: that its author edits
// there, the one before says.
func (s *Service) quiet(newest Entry, message string, by Actor) bool {
	return message == draftMessage && newest.Draft() && newest.CreatedBy == by &&
		s.clock().Sub(newest.CreatedAt) < s.Limits.DraftAge
}
