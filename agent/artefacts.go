package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/durable"
)

// The kinds of artefacts.
const (
	artefactPlan      = "plan"
	artefactPlanJSON  = "plan_json"
	artefactLock      = "lock_file"
	artefactPlanFiles = "plan_files"
	artefactJSONLog   = "json_log"
	artefactErrored   = "errored_state"
	artefactOutputs   = "outputs"
	artefactResults   = "results"
)

// uploadPatience is how long one upload may take.
const uploadPatience = 30 * time.Minute

// upload brings a file to the server, however long that is away.
func (s *stage) upload(held context.Context, kind, path string) error {
	err := persist(held, s.log, "the artefact "+kind, func(ctx context.Context) error {
		return s.executor.putOnce(ctx, s.hold(), kind, s.folder, path)
	})
	if isLoss(err) {
		s.lose()
	}
	return err
}

func (e *Executor) putOnce(ctx context.Context, hold Hold, kind, folder, path string) error {
	f, err := openRegular(folder, path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, uploadPatience)
	defer stop()
	described := api.Artefact{Kind: kind, Size: size, Digest: hex.EncodeToString(sum.Sum(nil)), Attempt: hold.Attempt}
	return e.settings.Server.PutArtefact(ctx, hold, described, f)
}

// uploadEvents brings the lines of JSON that a command printed to the server, masked. They are
// an extra: what goes wrong is only logged.
func (s *stage) uploadEvents(held context.Context, out outcome) {
	if out.spool == "" || held.Err() != nil {
		return
	}
	path := scratchIn(s.folder, artefactJSONLog)
	err := writeFile(path, func(to *os.File) error {
		from, err := os.Open(out.spool)
		if err != nil {
			return err
		}
		defer from.Close()
		masked := s.masker.Writer(to)
		_, err = io.Copy(masked, from)
		return errors.Join(err, masked.Close())
	})
	if err == nil {
		err = s.upload(held, artefactJSONLog, path)
	}
	if err != nil && held.Err() == nil {
		s.log.Warn("the JSON log was not kept", "error", err)
	}
}

// keepErrored keeps a state that the server didn't take on this machine, beside the run folders. Where that can't be,
// the run's folder stays.
func (s *stage) keepErrored(path string, why error) error {
	kept, err := s.keep(path, fmt.Sprintf("%s-%d-%s", s.assignment.Run, s.assignment.Attempt, erroredState))
	if err != nil && !s.discards() {
		s.log.Warn("a state that the tool could not store can't be copied, and is moved", "error", err)
		kept, err = s.move(path, filepath.Base(kept))
	}
	if err != nil {
		s.stranded = !s.discards() && mayBeState(err)
		s.log.Error("a state that the tool could not store can't be kept", "file", path, "error", err)
		return err
	}
	s.log.Error("a state that the tool could not store is kept on this machine: add it as a candidate", "file", kept,
		"error", why)
	return fmt.Errorf("%s", kept)
}

// mayBeState reports whether what could not be kept may be a state after all. An apply can leave anything in the place
// of one, such as a link, and would have its folder stay for good.
func mayBeState(err error) bool {
	_, none := errors.AsType[*unusable](err)
	return !none || errors.Is(err, syscall.EIO)
}

// keepLog keeps the masked log of a stage whose server doesn't take it.
func (s *stage) keepLog() {
	kept, err := s.keep(logIn(s.folder),
		fmt.Sprintf("%s-%s-%d.log", s.assignment.Run, s.assignment.Stage, s.assignment.Attempt))
	if err != nil {
		s.log.Error("the log can't be kept", "error", err)
		return
	}
	s.log.Error("the server doesn't take the log; it is kept on this machine", "file", kept)
}

// discards reports whether nothing of the stage's organization is to be kept.
func (s *stage) discards() bool {
	discards := s.executor.settings.Discards
	return discards != nil && discards(s.assignment.Org)
}

// keep copies a file out of the run folder, durably. It returns where to, also where it could not.
func (s *stage) keep(path, name string) (kept string, err error) {
	folder := keptIn(s.executor.settings.Work)
	kept = filepath.Join(folder, name)
	if s.discards() {
		return kept, errors.New("the organization was removed with its data")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return kept, err
	}
	from, err := openRegular(s.folder, path)
	if err != nil {
		return kept, err
	}
	defer from.Close()
	err = writeFile(kept, func(to *os.File) error {
		if _, err := io.Copy(to, from); err != nil {
			return err
		}
		return to.Sync()
	})
	if err != nil {
		_ = os.Remove(kept) // a part is worse than nothing: it looks like all
	}
	s.attempt("remove what was kept for too long", s.executor.sweepKept)
	return kept, err
}

// move takes a file out of the run folder, which needs no room on a full disk. It goes by the run folder itself, where
// no command writes: no folder on the way there may lead elsewhere. Whoever goes on where this is cut off finds it
// there. It counts as kept from now on, however old it is.
func (s *stage) move(path, name string) (kept string, err error) {
	from, err := openRegular(s.folder, path)
	if err != nil {
		return "", err
	}
	err = from.Sync()
	if err = errors.Join(err, from.Close()); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	within, err := filepath.Rel(s.folder, path)
	if err != nil {
		return "", err
	}
	if err := root.Rename(within, erroredState); err != nil {
		return "", err
	}
	s.attempt("note since when a state is kept", func() error {
		return root.Chtimes(erroredState, time.Time{}, time.Now())
	})
	kept = filepath.Join(keptIn(s.executor.settings.Work), name)
	if err := durable.Move(asideIn(s.folder), kept); err != nil {
		return "", errors.Join(err, root.Rename(erroredState, within))
	}
	return kept, nil
}

// openRegular opens a file below a run folder that a command made. It, and any folder on the way
// to it, might be a link to what is another run's, or nobody's.
func openRegular(folder, path string) (*os.File, error) {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &unusable{filepath.Base(path) + " is no ordinary file"})
	}
	return root.Open(name)
}

// writeFile makes a file of what write writes, in the place of an older one.
func writeFile(path string, write func(*os.File) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}
