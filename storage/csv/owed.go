package csv

import (
	"context"
	"errors"
	"os"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
)

// owed is a file of which not all is on disk, or is in the journal all the same.
type owed struct {
	org    uuid.UUID
	id     int64
	length int64      // of what was committed
	base   int64      // index.Head's: it doesn't change while something is owed
	file   appendFile // kept open, so that no error of the disk is forgotten; nil if too many are
	fresh  bool       // the folder's entry is not on disk either
	synced bool       // all is on disk; only the journal has to be emptied
	err    error      // why the last try failed
}

// sync syncs one file. After an error the system has let go of what it could not write, and
// says so once only: then it is written again, from the journal.
func (o *owed) sync(f *flusher) {
	failed, s := o.err != nil, f.store
	defer func() { o.err = fileError(o.err) }()
	defer o.close(f)
	file := o.file
	if file == nil {
		if file, o.err = s.reopen(o.org); o.err != nil {
			return
		}
		defer func() { _ = file.Close() }()
	}
	o.err = file.Sync()
	if failed || o.err != nil {
		o.err = errors.Join(rewrite(file, s.index, o), file.Sync())
	}
	if o.err != nil && !failed {
		s.log.Warn("upload file not flushed; what was acknowledged is in the journal", "org", o.org, "err", o.err)
	}
}

// reopen opens an organization's file, but does not make it.
func (s *Store) reopen(org uuid.UUID) (appendFile, error) {
	if _, err := os.Lstat(s.path(org)); err != nil {
		return nil, err
	}
	return s.files.open(s.path(org))
}

func rewrite(file appendFile, x *index.Index, o *owed) error {
	return x.Journal(context.Background(), o.id, func(e index.JournalEntry) error {
		bytes, err := e.Bytes()
		if err == nil {
			_, err = file.WriteAt(bytes, e.Start-o.base)
		}
		return err
	})
}

// keepOpen opens the file, unless enough are.
func (o *owed) keepOpen(f *flusher) {
	select {
	case f.open <- struct{}{}:
	default:
		return
	}
	file, err := f.store.reopen(o.org)
	if err != nil {
		f.open.release() // it is tried again
		return
	}
	o.file = file
}

func (o *owed) close(f *flusher) {
	if o.file != nil {
		_ = o.file.Close()
		o.file = nil
		f.open.release()
	}
}
