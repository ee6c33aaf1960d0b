package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// refill gives back to the files what a crash of the machine took from them: what the
// journal has and the disk had not. A file that has something else there was changed by
// somebody; it stays as it is, for its organization's first use to refuse.
func (s *Store) refill(ctx context.Context) error {
	all, err := s.index.Journaled(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	var synced []*owed
	for _, j := range all {
		if err := s.refillFile(ctx, j); err != nil {
			s.log.ErrorContext(ctx, "upload file not recovered from the journal", "org", j.Org, "err", err)
			if isDisks(err) {
				s.unmended[j.Org] = j
			}
			continue
		}
		synced = append(synced, &owed{org: j.Org, id: j.ID, length: j.Length, base: j.Base, synced: true})
	}
	if err := folder.Sync(s.dir); err != nil {
		return fileError(err)
	}
	_ = s.flusher.empty(synced) // it was logged, is owed, and is no reason not to start
	return nil
}

// isDisks reports whether an error is the disk's, which may pass, and says nothing of what
// a file has.
func isDisks(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return system && !errors.Is(err, os.ErrNotExist)
}

// mendAgain is for a file that refill or recover could do nothing for because of the disk, which
// was full say. Until it succeeds, the file lacks what was acknowledged, or has a torn tail of
// ours, and nobody may take it for changed. The tenant's gate must be held.
func (s *Store) mendAgain(ctx context.Context, org uuid.UUID) error {
	s.mu.Lock()
	j, ok := s.unmended[org]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	err := s.refillFile(ctx, j)
	if err == nil {
		err = fileError(folder.Sync(s.dir))
	}
	if err == nil {
		err = s.recoverFile(ctx, j)
	}
	if isDisks(err) {
		return fileError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unmended, org)
	return nil // what is wrong with it otherwise, a look at the file says
}

func (s *Store) refillFile(ctx context.Context, j index.Entry) (err error) {
	var f *refilled
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if now, err := lookAt(s.path(j.Org)); err != nil || now.exists && !now.plain {
		return errors.Join(err, errors.New("it is not a regular file"))
	}
	put := 0
	err = s.index.Journal(ctx, j.ID, func(e index.JournalEntry) error {
		if f == nil {
			if f, err = s.openForRefill(j.Org, e.Start == 0); err != nil {
				return err
			}
		}
		want, err := e.Bytes()
		if err != nil {
			return err
		}
		n, err := f.restore(want, e.Start-j.Base)
		put += n
		return err
	})
	if err != nil || f == nil {
		return fileError(err)
	}
	if put > 0 {
		s.log.WarnContext(ctx, "upload file was behind its journal after a crash; what it lacked was put back", "org", j.Org,
			"bytes", put)
	}
	return fileError(f.Sync())
}

// refilled is a file that is read and, where it lacks something, written.
type refilled struct {
	appendFile
	have *os.File
}

func (f *refilled) Close() error { return errors.Join(f.appendFile.Close(), f.have.Close()) }

// openForRefill makes the file only if all of it is in the journal.
func (s *Store) openForRefill(org uuid.UUID, whole bool) (*refilled, error) {
	open := s.reopen
	if whole {
		open = func(org uuid.UUID) (appendFile, error) { return s.files.open(s.path(org)) }
	}
	out, err := open(org)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(s.path(org))
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return &refilled{out, in}, nil
}

// restore writes what stood at the offset, if it is missing there: if the file ends before
// it or in it, or has zeros in its place, as file systems leave them. It returns how many
// bytes it wrote.
func (f *refilled) restore(want []byte, offset int64) (int, error) {
	have := make([]byte, len(want))
	n, err := f.have.ReadAt(have, offset)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if bytes.Equal(have[:n], want) {
		return 0, nil
	}
	info, err := f.have.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < offset {
		return 0, fmt.Errorf("the file has %d bytes; what the journal has begins at %d", info.Size(), offset)
	}
	for i := range n {
		if have[i] != want[i] && have[i] != 0 {
			return 0, fmt.Errorf("what stands at byte %d is not what was recorded", offset+int64(i))
		}
	}
	return f.WriteAt(want, offset)
}
