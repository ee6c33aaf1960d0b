package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/state"
)

// maxMessage is how long the message of a snapshot may be.
const maxMessage = 1000

// Missing returns those of the contents that a snapshot could not be made of yet. Those that
// are there stay for some hours.
func (s *Service) Missing(ctx context.Context, p auth.Principal, name state.Name, digests []Digest) ([]Digest, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return nil, err
	}
	if len(digests) > s.Limits.Files {
		return nil, fault.New(fault.FilesTooMany, "there are %d files; at most %d are allowed", len(digests), s.Limits.Files)
	}
	there, _, err := s.there(ctx, p, ref, digests)
	if err != nil {
		return nil, err
	}
	var missing []Digest
	for _, d := range digests {
		if _, ok := there[d]; !ok {
			missing = append(missing, d)
		}
	}
	return missing, nil
}

// PutContent keeps a content for a snapshot that is to be made. Faults: FileTooLarge,
// DigestMismatch, FilesTooLarge.
func (s *Service) PutContent(ctx context.Context, p auth.Principal, name state.Name, digest Digest,
	content io.Reader) error {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return err
	}
	if _, err := s.Store.Workspace(ctx, ref); err != nil {
		return err
	}
	if err := s.checkStored(ctx, p.Org); err != nil {
		return err
	}
	hold := s.hold(p.Org)
	defer hold.Release()
	if err := hold.Acquire(ctx, streamedBytes); err != nil {
		return err
	}
	got, _, err := s.put(ctx, p.Org, digest.String(), content)
	if err == nil && got != digest {
		err = fault.New(fault.DigestMismatch, "the file has the SHA-256 %s, not %s", got, digest)
	}
	if err != nil {
		return err
	}
	return s.noteSent(ctx, p, ref, digest)
}

// put keeps the content of a file, which the fault names.
func (s *Service) put(ctx context.Context, org uuid.UUID, file string, content io.Reader) (Digest, int64, error) {
	digest, size, err := s.Store.PutContent(ctx, org, content, s.Limits.FileBytes)
	if fault.Is(err, fault.BodyTooLarge) {
		err = errFileBytes(file, s.Limits)
	}
	return digest, size, err
}

// Holds returns how many bytes an organization's configurations have, and may have. It is for
// showing.
func (s *Service) Holds(ctx context.Context, org uuid.UUID) (used, limit int64, err error) {
	used, err = s.Store.StoredBytes(ctx, org)
	return used, s.Limits.StoredBytes, err
}

// checkStored refuses an organization that has as much as it may have.
func (s *Service) checkStored(ctx context.Context, org uuid.UUID) error {
	used, err := s.Store.StoredBytes(ctx, org)
	if err == nil && used >= s.Limits.StoredBytes {
		err = fault.New(fault.QuotaExceeded, "the organization's configurations have %d bytes, and may have no more", used)
	}
	return err
}

// Push makes a snapshot of files whose contents were put before, and the newest one of the
// workspace. The sizes of the files are not asked for. Parent, unless it is nil, is the number
// of the snapshot that it builds on. Faults: FilesMissing, SnapshotMoved, and those of
// NewSnapshot.
func (s *Service) Push(ctx context.Context, p auth.Principal, name state.Name, files []File, message string,
	parent *int64) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	hold := s.hold(p.Org)
	defer hold.Release()
	if err := hold.AcquireNow(bytesToEdit(files)); err != nil {
		return Entry{}, err
	}
	if _, err := NewSnapshot(files, s.Limits); err != nil { // before anything is looked up
		return Entry{}, err
	}
	hold.Release()
	if err := s.fillSizes(ctx, p, ref, files, parent); err != nil {
		return Entry{}, err
	}
	if err := s.checkTexts(ctx, ref, files); err != nil {
		return Entry{}, err
	}
	if err := hold.AcquireNow(bytesToEdit(files)); err != nil {
		return Entry{}, err
	}
	return s.add(ctx, p, ref, files, message, parent)
}

// fillSizes puts in the sizes of the files. That some are missing the store says, but for callers who may see only some
// workspaces. What those lack may have been in the snapshot that they build on.
func (s *Service) fillSizes(ctx context.Context, p auth.Principal, ref Ref, files []File, parent *int64) error {
	sizes, newest, err := s.there(ctx, p, ref, Snapshot{Files: files}.Contents())
	if err != nil {
		return err
	}
	for i, f := range files {
		files[i].Size = sizes[f.Digest]
	}
	if p.States == nil {
		return nil
	}
	err = ErrMissing(files, func(d Digest) bool { _, ok := sizes[d]; return ok })
	if err != nil && parent != nil && *parent != newest {
		return ErrMoved(newest)
	}
	return err
}

// checkTexts reads the files that have to be texts and that the newest snapshot has not.
func (s *Service) checkTexts(ctx context.Context, ref Ref, files []File) error {
	known, err := s.knownTexts(ctx, ref)
	if err != nil {
		return err
	}
	for _, f := range files {
		if known[f.Digest] || !isText(f.Path) {
			continue
		}
		known[f.Digest] = true
		content, _, err := s.Store.OpenContent(ctx, ref.Org, f.Digest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the store says so
		}
		if err == nil {
			_, err = io.Copy(io.Discard, checked(f.Path, content))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// knownTexts are the contents in the newest snapshot that are known to be texts.
func (s *Service) knownTexts(ctx context.Context, ref Ref) (map[Digest]bool, error) {
	known := map[Digest]bool{}
	w, err := s.Store.Workspace(ctx, ref)
	if err != nil {
		return known, err
	}
	err = s.eachNewest(ctx, w, func(f File) { known[f.Digest] = known[f.Digest] || isText(f.Path) })
	return known, err
}

// PushArchive is Push of what a tar.gz has, which is read as it comes. Faults: those of Push,
// ArchiveInvalid, ArchiveEntry, ArchiveBomb, FileNotText.
func (s *Service) PushArchive(ctx context.Context, p auth.Principal, name state.Name, archive io.Reader, message string,
	parent *int64) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	files, err := s.unpack(ctx, p, ref, archive)
	if err != nil {
		return Entry{}, err
	}
	return s.add(ctx, p, ref, files, message, parent)
}

// unpack keeps the contents of the files that a tar.gz has.
func (s *Service) unpack(ctx context.Context, p auth.Principal, ref Ref, archive io.Reader) (files []File, err error) {
	if _, err := s.Store.Workspace(ctx, ref); err != nil {
		return nil, err
	}
	if err := s.checkStored(ctx, p.Org); err != nil {
		return nil, err
	}
	hold := s.hold(p.Org)
	defer hold.Release()
	if err := hold.Acquire(ctx, streamedBytes); err != nil {
		return nil, err
	}
	var total int64
	err = readArchive(archive, s.Limits, func(path string, executable bool, content io.Reader) error {
		if err := hold.AcquireNow(bytesToEdit([]File{{Path: path}})); err != nil {
			return err
		}
		digest, size, err := s.put(ctx, p.Org, path, checked(path, content))
		if err != nil {
			return err
		}
		if total += size; total > s.Limits.SnapshotBytes {
			return errSnapshotBytes(s.Limits)
		}
		files = append(files, File{Path: path, Executable: executable, Size: size, Digest: digest})
		return nil
	})
	return files, err
}

// edits is how often a single file's change is made again when others change files meanwhile.
const edits = 20

// PutFile makes a snapshot of the newest one with a file put into it. Faults: those of Push,
// FileNotText.
func (s *Service) PutFile(ctx context.Context, p auth.Principal, name state.Name, file File, content io.Reader,
	parent *int64) (Entry, error) {
	made, _, err := s.PutFileIf(ctx, p, name, file, content, Edit{Parent: parent})
	return made, err
}

// RemoveFile makes a snapshot of the newest one without a file. Fault: FileNotFound.
func (s *Service) RemoveFile(ctx context.Context, p auth.Principal, name state.Name, path string,
	parent *int64) (Entry, error) {
	return s.RemoveFileIf(ctx, p, name, path, Edit{Parent: parent})
}

// edit makes a snapshot of the newest one, and again when somebody else's came between, unless
// the caller has said what it builds on.
func (s *Service) edit(ctx context.Context, p auth.Principal, ref Ref, e Edit, what string,
	change func(Snapshot, Entry) ([]File, error)) (made Entry, err error) {
	for range edits {
		if made, err = s.editOnce(ctx, p, ref, e, what, change); !fault.Is(err, fault.SnapshotMoved) || e.Parent != nil {
			return made, err
		}
	}
	return made, fault.New(fault.SnapshotMoved, "others change the configuration at the same time; try again")
}

func (s *Service) editOnce(ctx context.Context, p auth.Principal, ref Ref, e Edit, what string,
	change func(Snapshot, Entry) ([]File, error)) (Entry, error) {
	w, err := s.Store.Workspace(ctx, ref)
	if err != nil {
		return Entry{}, err
	}
	if e.Parent != nil && *e.Parent != w.Newest.Number {
		return Entry{}, ErrMoved(w.Newest.Number)
	}
	hold := s.hold(ref.Org)
	defer hold.Release()
	if err := hold.Acquire(ctx, int64(w.Newest.Files+1)*editedBytes); err != nil {
		return Entry{}, err
	}
	newest := Snapshot{}
	if w.Newest.Number > 0 {
		if newest, err = s.Store.Files(ctx, ref.Org, w.Newest.ID); err != nil {
			return Entry{}, err
		}
	}
	files, err := change(newest, w.Newest)
	if err != nil {
		return Entry{}, err
	}
	message := e.message(what)
	made, err := s.addQuietly(ctx, p, ref, files, message, &w.Newest.Number, s.quiet(w.Newest, message, ActorOf(p)))
	if err == nil {
		s.dropDrafts(context.WithoutCancel(ctx), ref, made)
	}
	return made, err
}

// ErrMoved is the fault of what builds on another snapshot than the newest, which has this number.
func ErrMoved(newest int64) error {
	return fault.New(fault.SnapshotMoved, "the newest snapshot is number %d by now", newest)
}

// add makes a snapshot the newest one, and removes old ones that nobody needs.
func (s *Service) add(ctx context.Context, p auth.Principal, ref Ref, files []File, message string,
	parent *int64) (Entry, error) {
	if message == draftMessage {
		return Entry{}, fault.New(fault.ParameterInvalid, "this message is that of drafts, which are saved file by file")
	}
	return s.addQuietly(ctx, p, ref, files, message, parent, false)
}

// addQuietly is add; quietly without a line in the audit log.
func (s *Service) addQuietly(ctx context.Context, p auth.Principal, ref Ref, files []File, message string,
	parent *int64, quietly bool) (Entry, error) {
	if len(message) > maxMessage {
		return Entry{}, fault.New(fault.ParameterInvalid, "a message has at most %d bytes", maxMessage)
	}
	snapshot, err := NewSnapshot(files, s.Limits)
	if err != nil {
		return Entry{}, err
	}
	about := Entry{Message: message, CreatedAt: s.clock(), CreatedBy: ActorOf(p)}
	event := s.event(p, ref, ActionConfigure, "snapshot "+snapshot.ID.String())
	if quietly {
		event = nil
	}
	entry, err := s.Store.AddSnapshot(ctx, ref, snapshot, about, parent, event)
	if err != nil {
		return Entry{}, err
	}
	s.Deliver(ctx, ref.Org)
	s.prune(context.WithoutCancel(ctx), ref, entry)
	return entry, nil
}

// pruned is how many old snapshots one call looks at.
const pruned = 200

// prune removes snapshots beyond those that the workspace keeps. What it can't, the next call
// does.
func (s *Service) prune(ctx context.Context, ref Ref, newest Entry) {
	last := newest.Number - int64(s.Limits.Snapshots)
	if last <= 0 {
		return
	}
	old, err := s.Store.Entries(ctx, ref, last+1, pruned)
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
		if needed[e.ID.String()] || e.ID == newest.ID || s.clock().Sub(e.CreatedAt) < s.Limits.SnapshotAge {
			continue
		}
		if err := s.Store.RemoveEntry(ctx, ref, e.Number); err != nil {
			s.Log.WarnContext(ctx, "an old snapshot of a configuration was not removed", "workspace", string(ref.Name), "number",
				e.Number, "error", err)
			return
		}
	}
}

// Entries returns a workspace's snapshots, the newest first, with numbers below before, and
// where to go on; 0 at the end.
func (s *Service) Entries(ctx context.Context, p auth.Principal, name state.Name, before int64,
	limit int) ([]Entry, int64, error) {
	ref, err := s.authorize(ctx, p, auth.ReadWorkspace, name)
	if err != nil {
		return nil, 0, err
	}
	page, err := s.Store.Entries(ctx, ref, before, limit)
	if err != nil || len(page) < limit {
		return page, 0, err
	}
	return page, page[len(page)-1].Number, nil
}

// Entry describes a snapshot: by its ID or its number; the newest for the empty text. Fault:
// SnapshotNotFound.
func (s *Service) Entry(ctx context.Context, p auth.Principal, name state.Name, which string) (Entry, error) {
	ref, err := s.authorize(ctx, p, auth.ReadWorkspace, name)
	if err != nil {
		return Entry{}, err
	}
	return s.find(ctx, ref, which)
}

// Snapshot returns the files of a snapshot that Entry has found. The caller has acquired
// ListedBytes of memory for each of them.
func (s *Service) Snapshot(ctx context.Context, org uuid.UUID, e Entry) (Snapshot, error) {
	return s.Store.Files(ctx, org, e.ID)
}

func (s *Service) find(ctx context.Context, ref Ref, which string) (Entry, error) {
	if which != "" {
		return s.entry(ctx, ref, which)
	}
	w, err := s.Store.Workspace(ctx, ref)
	if err == nil && w.Newest.Number == 0 {
		err = fault.New(fault.SnapshotNotFound, "the workspace %q has no configuration yet", ref.Name)
	}
	return w.Newest, err
}

func (s *Service) entry(ctx context.Context, ref Ref, which string) (Entry, error) {
	if IsBeside(which) {
		return s.beside(ctx, ref, which)
	}
	if number, err := strconv.ParseInt(which, 10, 64); err == nil && number > 0 && len(which) < 19 {
		return s.Store.Entry(ctx, ref, number, Digest{})
	}
	id, err := ParseDigest(which)
	if err != nil {
		return Entry{}, fault.New(fault.ParameterInvalid, "%.100q is neither the number nor the ID of a snapshot", which)
	}
	return s.Store.Entry(ctx, ref, 0, id)
}

// OpenFile returns a file of a snapshot with its content. Faults: SnapshotNotFound, FileNotFound.
func (s *Service) OpenFile(ctx context.Context, p auth.Principal, name state.Name, which,
	path string) (File, io.Reader, error) {
	entry, err := s.Entry(ctx, p, name, which)
	if err != nil {
		return File{}, nil, err
	}
	hold := s.hold(p.Org)
	defer hold.Release()
	if err := hold.Acquire(ctx, bytesToList(entry)); err != nil {
		return File{}, nil, err
	}
	snapshot, err := s.Store.Files(ctx, p.Org, entry.ID)
	if err != nil {
		return File{}, nil, err
	}
	f, err := snapshot.File(path)
	if err != nil {
		return File{}, nil, err
	}
	f.Path = strings.Clone(f.Path) // it is a part of the whole list
	content, err := s.Content(ctx, p.Org, f)
	return f, content, err
}

// Content opens the content of a file that is in a snapshot of the organization.
func (s *Service) Content(ctx context.Context, org uuid.UUID, f File) (io.Reader, error) {
	content, size, err := s.Store.OpenContent(ctx, org, f.Digest)
	if err == nil && size != f.Size {
		err = fault.New(fault.StoreCorrupt, "the content of a file has %d bytes, and not %d", size, f.Size)
	}
	return content, err
}

// WriteArchive writes a snapshot of the workspace as a tar archive, always the same bytes. It is
// for the server itself, which has asked the gate before, and for what it does for an executor.
func (s *Service) WriteArchive(ctx context.Context, org uuid.UUID, name state.Name, which string, w io.Writer) error {
	entry, err := s.find(ctx, Ref{Org: org, Name: name}, which)
	if err != nil {
		return err
	}
	hold := s.Memory.Hold(budget.Share{Org: org, Holder: true})
	defer hold.Release()
	if err := hold.Acquire(ctx, bytesToList(entry)); err != nil { // a run would fail that is refused
		return err
	}
	return s.writeEntry(ctx, &hold, org, entry, w)
}

// WriteEntry writes a snapshot that Entry has found as a tar archive. The caller has acquired
// memory for what is on its way.
func (s *Service) WriteEntry(ctx context.Context, org uuid.UUID, e Entry, w io.Writer) error {
	hold := s.hold(org)
	defer hold.Release()
	if err := hold.AcquireNow(bytesToList(e)); err != nil {
		return err
	}
	return s.writeEntry(ctx, &hold, org, e, w)
}

func (s *Service) writeEntry(ctx context.Context, hold *budget.Hold, org uuid.UUID, e Entry, w io.Writer) error {
	snapshot, err := s.Store.Files(ctx, org, e.ID)
	if err != nil {
		return err
	}
	hold.Keep(snapshot.held())
	return writeArchive(snapshot.Files, func(f File) (io.Reader, error) { return s.Content(ctx, org, f) }, w)
}

// Files returns a snapshot of the workspace. It is for the server itself, which has asked the
// gate before. Fault: SnapshotNotFound.
func (s *Service) Files(ctx context.Context, org uuid.UUID, name state.Name, which string) (Snapshot, error) {
	entry, err := s.find(ctx, Ref{Org: org, Name: name}, which)
	if err != nil {
		return Snapshot{}, err
	}
	hold := s.hold(org)
	defer hold.Release()
	if err := hold.Acquire(ctx, bytesToList(entry)); err != nil {
		return Snapshot{}, err
	}
	return s.Store.Files(ctx, org, entry.ID)
}
