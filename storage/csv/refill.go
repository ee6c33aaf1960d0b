package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
	var whole []index.Flushed
	for _, j := range all {
		if err := s.refillFile(ctx, j); err != nil {
			s.log.ErrorContext(ctx, "upload file not recovered from the journal", "org", j.Org, "err", err)
			continue
		}
		whole = append(whole, index.Flushed{ID: j.ID, Length: j.Length})
	}
	if err := folder.Sync(s.dir); err != nil {
		return fileError(err)
	}
	return s.index.Flush(whole)
}

func (s *Store) refillFile(ctx context.Context, j index.Journaled) (err error) {
	var f *os.File
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
			if f, err = openForRefill(s.path(j.Org), e.Start == 0); err != nil {
				return err
			}
		}
		want, err := e.Bytes()
		if err != nil {
			return err
		}
		n, err := restore(f, want, e.Start)
		put += n
		return err
	})
	if err != nil {
		return fileError(err)
	}
	if put > 0 {
		s.log.WarnContext(ctx, "upload file was behind its journal after a crash; what it lacked was put back", "org", j.Org, "bytes", put)
	}
	return fileError(f.Sync())
}

// openForRefill makes the file only if all of it is in the journal.
func openForRefill(path string, whole bool) (*os.File, error) {
	if whole {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// restore writes what stood at the offset, if it is missing there: if the file ends before
// it or in it, or has zeros in its place, as file systems leave them. It returns how many
// bytes it wrote.
func restore(f *os.File, want []byte, offset int64) (int, error) {
	have := make([]byte, len(want))
	n, err := f.ReadAt(have, offset)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if bytes.Equal(have[:n], want) {
		return 0, nil
	}
	info, err := f.Stat()
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
