package csv

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// adoption reads a file that the index does not know: another program wrote it, or the
// index was lost. It is read once, from end to end, and believed only if every row is in
// order.
type adoption struct {
	t       *tenant
	reader  *csvrow.Reader
	checker checker
	layout  layout
	groups  map[index.Group]index.Tally
}

// adopt makes the file known to the index, and returns how it looks then.
func (t *tenant) adopt(ctx context.Context, now stamp) (stamp, error) {
	a := &adoption{t: t, groups: map[index.Group]index.Tally{},
		checker: checker{decoder: csvrow.NewDecoder(t.org), newest: index.Never}}
	a.layout.head = index.Head{Newest: index.Never, Line: 1}
	if err := a.readAll(ctx); err != nil {
		return now, err
	}
	if err := os.Chmod(t.path, 0o600); err != nil {
		t.store.log.Warn("upload file may be readable for others", "org", t.org, "err", err)
	}
	if err := t.store.bringToDisk(t.org); err != nil {
		return now, err
	}
	now, err := lookAt(t.path)
	if err != nil {
		return now, err
	}
	if now.size != a.layout.head.Length {
		return now, t.bad(a.layout.head.Line, "the file grew while it was read")
	}
	a.layout.head.Seal = now.seal
	id, err := t.store.index.Commit(index.Change{Org: t.org, Head: a.layout.head, Segments: a.layout.segments,
		Groups: a.groups})
	if err != nil {
		return now, err
	}
	t.head, t.last = a.layout.head, a.layout.last
	t.head.ID = id
	t.store.adopted(t.org)
	t.store.log.Info("upload file adopted", "org", t.org, "records", t.head.Records, "bytes", t.head.Length)
	return now, nil
}

// bringToDisk syncs a file that nobody may have synced who wrote it: what is appended to it could not
// be put back after a crash that takes what stands before. Nothing is appended to a file that
// can't be written.
func (s *Store) bringToDisk(org uuid.UUID) error {
	file, err := s.reopen(org)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err == nil {
		err = folder.Sync(s.dir)
	}
	return fileError(err)
}

func (a *adoption) readAll(ctx context.Context) error {
	a.reader = csvrow.NewReader(piecewise{ctx, a.t, 0}.whole(), 0, 1)
	for {
		err := a.reader.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, csvrow.ErrShort):
			return a.finish(a.reader.Rest())
		case err == nil:
			err = a.row(&a.reader.Row, a.reader.Raw)
		}
		if err != nil {
			return a.t.badRow(a.reader, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// row takes one row into account.
func (a *adoption) row(row *csvrow.Row, raw []byte) error {
	if a.layout.head.Length == 0 {
		if !csvrow.IsHeader(row) {
			return errors.New("it is not the header of an upload file")
		}
		a.layout.header(len(raw))
		return nil
	}
	at, err := a.checker.check(row)
	if err != nil {
		return err
	}
	a.layout.add(raw, at, row.LF)
	group := index.Group{Provider: string(row.Fields[2]), Category: string(row.Fields[3]),
		ResourceType: string(row.Fields[4])}
	a.groups[group] = tally(a.groups[group], 1, at)
	return nil
}

// finish deals with a last row that has no line end, or half of one. One that is whole without it gets
// it; the rest of a crash is kept aside, like that of our own.
func (a *adoption) finish(rest []byte) error {
	var row csvrow.Row
	end := "\r\n"
	if bytes.HasSuffix(rest, []byte("\r")) {
		end = "\n" // half of it is there
	}
	ended := append(rest[:len(rest):len(rest)], end...)
	if n, err := row.Parse(ended); err == nil && n == len(ended) && a.row(&row, ended) == nil {
		return appendTo(a.t.path, a.reader.Offset+int64(len(rest)), end)
	}
	if a.layout.head.Length == 0 {
		return a.t.bad(1, "it is not the header of an upload file")
	}
	return a.t.store.setAside(a.t.org, a.layout.head.Length)
}

// appendTo writes text at the end of the file, which is at this offset.
func appendTo(path string, offset int64, text string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fileError(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt([]byte(text), offset); err != nil {
		return fileError(err)
	}
	return fileError(f.Sync())
}
