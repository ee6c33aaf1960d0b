package runs

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/digest"
	"github.com/holdfast/holdfast/seal"
)

// maxResults is how much other programs may say of a plan, in bytes.
const maxResults = 25 << 20

// SealedAs is what a file is sealed under, as its kind.
func (f FileRef) SealedAs() string { return fmt.Sprintf("%s/%s/%d", f.ID, f.Kind, f.Attempt) }

// Wire is the file in an answer.
func (f File) Wire() api.Artefact {
	return api.Artefact{Kind: string(f.Kind), Attempt: f.Attempt, Size: f.Size, Digest: f.Digest}
}

// PutFile keeps a file that an executor has made, if it has this digest. The same file again is
// fine; of two uploads at once the one that began last counts. Faults: EpochOld, DigestMismatch,
// FileMismatch, UploadReplaced, BodyTooLarge, and those of a plan file that is not of the run.
func (s *Service) PutFile(ctx context.Context, p auth.Principal, id string, a api.Artefact,
	body io.Reader) (File, error) {
	run, err := s.executed(ctx, p, id)
	if err != nil {
		return File{}, err
	}
	if err := run.current(p.Run.Epoch); err != nil && FileKind(a.Kind) != FileErroredState {
		return File{}, err
	}
	if !slices.Contains(FileKinds(), FileKind(a.Kind)) || a.Attempt < 1 || a.Attempt > run.Attempt {
		return File{}, fault.New(fault.RunInvalid, "%q of attempt %d is no file of this run", a.Kind, a.Attempt)
	}
	ref := FileRef{run.Ref(), FileKind(a.Kind), a.Attempt}
	if have, err := s.Store.FileOf(ctx, ref); err == nil {
		return have, sameFile(have, a.Digest)
	}
	allow := func(r Run) error { return r.takes(ref, *p.Run) }
	if err := allow(run); err != nil {
		return File{}, err
	}
	coming := incoming{ref: ref, digest: a.Digest, allow: allow}
	switch {
	case ref.Kind == FilePlan:
		return s.putPlan(ctx, run, coming, body)
	case ref.Kind.Masked():
		masker, err := s.maskerOf(ctx, run)
		if err != nil {
			return File{}, err
		}
		coming.cover = masker.Covering
	}
	return s.put(ctx, coming, body)
}

// takes refuses a file that the run's stage doesn't make, or that comes when the server has looked
// at what it made: what is pinned is all that there is.
func (r Run) takes(file FileRef, from auth.RunGrant) error {
	if file.Kind == FileErroredState && from.Stage == auth.RunApply {
		return nil // evidence is welcome from whoever had the run
	}
	if err := r.current(from.Epoch); err != nil {
		return err
	}
	stage := ApplyStage
	switch file.Kind {
	case FileJSONLog:
		stage = r.Stage
	case FilePlan, FilePlanJSON, FileLock, FilePlanFiles, FileResults:
		stage = PlanStage
	}
	if stage != r.Stage || r.Status == Checking || file.Attempt != r.Attempt {
		return fault.New(fault.RunInvalid, "the run, which is %s in attempt %d, takes no %s of attempt %d", r.Status,
			r.Attempt, file.Kind, file.Attempt)
	}
	return nil
}

func sameFile(have File, digest string) error {
	if have.Digest != digest {
		return fault.New(fault.FileMismatch, "the run has a %s with the digest %s already", have.Kind, have.Digest)
	}
	return nil
}

// incoming is a file that is to be kept.
type incoming struct {
	ref    FileRef
	digest string                    // of what comes, as was said; empty for none
	allow  func(Run) error           // whether the run takes it, when it is all there
	look   func() error              // finds fault with all of it; nil for none
	cover  func(io.Reader) io.Reader // what is kept of it; nil for all as it comes
}

// put seals a file piece by piece, and makes it visible when all of it has come and nothing is
// wrong with it.
func (s *Service) put(ctx context.Context, in incoming, body io.Reader) (File, error) {
	ref := in.ref
	limit := s.Limits.FileBytes
	switch ref.Kind {
	case FilePlan:
		limit = s.Limits.PlanBytes
	case FileResults:
		limit = min(limit, maxResults)
	}
	counted := digest.NewReader(body, limit, func() error {
		return fault.New(fault.BodyTooLarge, "a %s may have %d bytes", ref.Kind, limit)
	})
	pieces, upload := 0, uuid.NewString()
	kept := io.Reader(counted)
	if in.cover != nil {
		kept = in.cover(counted)
	}
	err := s.Seals.SealPieces(ctx, ref.Org, seal.Kind(ref.Kind), ref.SealedAs(), kept, func(index int,
		sealed []byte) error {
		pieces = index + 1
		return s.Store.PutPiece(ctx, ref, upload, index, sealed)
	})
	if err != nil {
		return File{}, err
	}
	got := counted.Sum().String()
	if in.digest != "" && got != in.digest {
		return File{}, fault.New(fault.DigestMismatch, "the file has the digest %s, not %s: it was damaged on the way", got,
			in.digest)
	}
	if in.look != nil {
		if err := in.look(); err != nil {
			return File{}, err
		}
	}
	file, err := s.Store.CompleteFile(ctx, File{FileRef: ref, Size: counted.N, Digest: got, Pieces: pieces}, upload,
		in.allow)
	if err != nil {
		return File{}, err
	}
	return file, sameFile(file, got)
}

// open reads a file's plain bytes.
func (s *Service) open(ctx context.Context, file File) io.Reader {
	return s.Seals.OpenPieces(ctx, file.Org, seal.Kind(file.Kind), file.SealedAs(), func(index int) ([]byte, error) {
		if index >= file.Pieces {
			return nil, io.EOF
		}
		return s.Store.Piece(ctx, file.FileRef, index)
	})
}

// OpenFile opens a file of the run for its executor, who is given the plan again by it.
func (s *Service) OpenFile(ctx context.Context, p auth.Principal, id string, kind FileKind,
	attempt int) (File, io.Reader, error) {
	run, err := s.executed(ctx, p, id)
	if err == nil {
		err = run.current(p.Run.Epoch)
	}
	if err != nil {
		return File{}, nil, err
	}
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), kind, attempt})
	if err != nil {
		return File{}, nil, err
	}
	content := s.open(ctx, file)
	if kind.Masked() {
		file.Digest = "" // it is that of what came, and what is kept is masked
	}
	return file, content, nil
}
