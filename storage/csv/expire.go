package csv

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	disks "github.com/holdfast/holdfast/internal/disk"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// expiry is one call of Expire: it makes a file of what stays, has the index count from there, and puts the file in
// the place of the old one. The index decides: a crash before its commit leaves a copy that is removed, one behind it
// a copy that is put in its place (kept.go).
type expiry struct {
	ctx    context.Context
	t      *tenant
	before int64
	head   index.Head
	header int64 // bytes
	path   string
	file   appendFile

	next    int64 // where the next segment begins that was not looked at
	found   bool  // what follows is
	at      int64 // where the first record that stays begins,
	line    int64 // in this line
	first   index.Segment
	removed int64
	groups  map[index.Group]*index.Tally // of what goes; First is of what stays
	last    index.Group                  // of groups, the one that was found last
	waiting map[index.Group]bool         // those without First that have records which stay; nil for not known

	buf     []byte
	row     csvrow.Row
	decoder *csvrow.Decoder
}

// errChanged says that a file is not what was read or written just now.
var errChanged = errors.New("it was changed while it was copied")

// Expire implements inventory.Store. It removes all that is old at once, and copies the file for that: most of it
// while others append.
func (s *Store) Expire(ctx context.Context, org uuid.UUID, before time.Time, _ int) (removed int, err error) {
	if err := s.life.enter(); err != nil {
		return 0, err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.life.ctx, cancel)
	defer stop()
	t := s.tenants.acquire(org)
	defer s.tenants.release(t)
	if err := t.expiring.acquire(ctx); err != nil {
		return 0, err
	}
	defer t.expiring.release()
	removed, err = t.expire(ctx, before)
	if errors.Is(err, context.Canceled) && s.life.ctx.Err() != nil {
		err = errClosed()
	}
	return removed, err
}

func (t *tenant) expire(ctx context.Context, before time.Time) (removed int, err error) {
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	head, err := t.store.index.Head(ctx, t.org)
	if err != nil {
		return 0, err
	}
	first, err := t.store.index.From(ctx, head.ID, 0, index.Range{}, 1)
	e := &expiry{ctx: ctx, t: t, before: microsBehind(before), head: head, path: t.path + keptMark,
		groups: map[index.Group]*index.Tally{}, decoder: csvrow.NewDecoder(t.org)}
	if err != nil || len(first) == 0 || first[0].First >= e.before {
		return 0, err
	}
	e.header = first[0].Start - head.Base
	if err := e.fits(); err != nil {
		return 0, err
	}
	return e.run()
}

// fits returns an error if the disk has no room for the copy: to find that out by filling it would keep others from
// writing.
func (e *expiry) fits() error {
	x := e.t.store.index
	stays, err := x.From(e.ctx, e.head.ID, 0, index.Range{HasSince: true, Since: e.before}, 1)
	if err != nil || len(stays) == 0 {
		return err
	}
	free, err := disks.Free(e.t.store.dir)
	if err != nil || free == 0 { // as of file systems that don't say
		return nil
	}
	if room := e.head.Length - stays[0].Start; free < room {
		return fault.New(fault.StoreFull, "there is no room for a copy of %s%s without its old records: it has up to %d "+
			"bytes, and %d are free", e.t.org, suffix, room, free)
	}
	return nil
}

// microsBehind rounds up: records have whole microseconds, and the last one before a time counts as before it.
func microsBehind(at time.Time) int64 {
	micros := at.UnixMicro()
	if at.Nanosecond()%1000 > 0 {
		micros++
	}
	return micros
}

func (e *expiry) run() (removed int, err error) {
	t := e.t
	if e.file, err = t.store.files.open(e.path); err != nil {
		return 0, fileError(err)
	}
	committed := false
	defer func() {
		if e.file != nil {
			_ = e.file.Close()
		}
		if !committed {
			_ = os.Remove(e.path) // else the next one who has the gate does
		}
	}()
	if err := e.file.Truncate(0); err != nil {
		return 0, fileError(err)
	}
	if err := e.copyAhead(); err != nil {
		return 0, err
	}
	if err := t.gate.acquire(e.ctx); err != nil {
		return 0, err
	}
	defer t.gate.release()
	if err := t.ready(); err != nil {
		return 0, err
	}
	if err := t.store.flusher.settle(t.org); err != nil {
		return 0, err
	}
	before, err := lookAt(t.path) // to settle may have written what was there
	if err != nil || !t.mine(before, t.head.Size()) {
		return 0, cmp.Or(err, t.ready(), fileError(errChanged))
	}
	cut, err := e.finish()
	if err != nil {
		return 0, err
	}
	if err := folder.Sync(t.store.dir); err != nil {
		return 0, fileError(err) // a crash could take the copy's name
	}
	if err := t.store.index.Watch(); err != nil {
		return 0, err // another process may have the files by now
	}
	if now, err := lookAt(t.path); err != nil || now != before { // whoever has changed the file keeps that
		return 0, cmp.Or(err, t.ready(), fileError(errChanged))
	}
	t.look(func(v *view) { *v = view{} }) // the file is not what the index says, until it is in its place
	if err := t.store.index.Expire(cut); err != nil {
		committed = index.Uncertain(err) // then who has the gate next finds out
		return 0, err
	}
	committed = true
	return int(e.removed), t.replace(cut.Head)
}

// copyAhead deals with all segments but the last one, which don't change any more, while others append.
func (e *expiry) copyAhead() error {
	last, err := e.t.store.index.Last(e.ctx, e.head.ID, e.head.Length)
	if err != nil {
		return err
	}
	err = e.until(last.Start)
	if errors.Is(err, errChanged) {
		return cmp.Or(e.t.inspect(e.ctx), fileError(err))
	}
	return errors.Join(err, fileError(e.file.Sync()))
}

// finish deals with the rest, and brings the copy to disk. It needs the gate.
func (e *expiry) finish() (cut index.Cut, err error) {
	e.head, e.waiting = e.t.head, nil
	if err := e.until(e.head.Length); errors.Is(err, errChanged) {
		return cut, cmp.Or(e.t.compare(), fileError(err))
	} else if err != nil {
		return cut, err
	}
	if !e.found {
		e.at, e.line = e.head.Length, e.head.Line
	}
	if len(e.waiting) > 0 {
		return cut, fault.New(fault.StoreCorrupt, "the index counts other records than the upload file %s%s has", e.t.org,
			suffix)
	}
	header := make([]byte, e.header)
	if _, err := (piecewise{e.ctx, e.t, 0}).ReadAt(header, 0); err != nil {
		return cut, err
	}
	if _, err := e.file.WriteAt(header, 0); err != nil {
		return cut, fileError(err)
	}
	err = errors.Join(e.file.Sync(), e.file.Close())
	if e.file = nil; err != nil {
		return cut, fileError(err)
	}
	now, err := lookAt(e.path)
	if err != nil {
		return cut, err
	}
	cut = index.Cut{Org: e.t.org, Head: e.head, At: e.at, First: e.first, Groups: map[index.Group]index.Tally{}}
	cut.Head.Base, cut.Head.BaseLines = e.at-e.header, e.line-2 // the header is one line
	cut.Head.Records -= e.removed
	cut.Head.Seal = now.seal
	for group, gone := range e.groups {
		cut.Groups[group] = *gone
	}
	if now.size != cut.Head.Size() {
		return cut, fileError(errChanged)
	}
	return cut, nil
}

// until counts and copies segments that begin before an offset.
func (e *expiry) until(end int64) error {
	for {
		segments, err := e.t.store.index.From(e.ctx, e.head.ID, e.next, index.Range{}, page)
		if err != nil {
			return err
		}
		for _, s := range segments {
			if s.Start >= end {
				return nil
			}
			if err := e.segment(s); err != nil {
				return err
			}
			e.next = s.End()
		}
		if len(segments) < page {
			return nil
		}
	}
}

func (e *expiry) segment(s index.Segment) error {
	data, err := e.read(s)
	if err != nil {
		return err
	}
	stays := 0
	if !e.found {
		if stays, err = e.count(s, data); err != nil || stays == len(data) {
			return err
		}
	}
	if err := e.lookForFirst(s, data[stays:]); err != nil {
		return err
	}
	_, err = e.file.WriteAt(data[stays:], e.header+s.Start+int64(stays)-e.at)
	return fileError(err)
}

// read reads a segment and compares its checksum.
func (e *expiry) read(s index.Segment) ([]byte, error) {
	if int64(cap(e.buf)) < s.Length {
		e.buf = make([]byte, s.Length, max(s.Length, usualBuffer))
	}
	e.buf = e.buf[:s.Length]
	n, err := piecewise{e.ctx, e.t, e.head.Base}.ReadAt(e.buf, s.Start)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if int64(n) != s.Length || crc32.Checksum(e.buf, castagnoli()) != s.CRC {
		return nil, errChanged
	}
	return e.buf, nil
}

// count counts the records of a segment that go, and returns where in it the first one begins that stays.
func (e *expiry) count(s index.Segment, data []byte) (i int, err error) {
	left := s
	for i < len(data) {
		n, err := e.row.Parse(data[i:])
		if err != nil {
			return i, e.t.bad(e.head.Place(left.Line), err.Error())
		}
		if s.Last >= e.before {
			if left.First, err = e.timestamp(left.Line); err != nil {
				return i, err
			}
			if left.First >= e.before {
				e.found = true
				break
			}
		}
		e.tally().Count++
		e.removed++
		left.Records--
		left.Line += int64(e.row.Lines)
		i += n
	}
	if !e.found {
		return i, nil
	}
	left.Start += int64(i)
	left.Length -= int64(i)
	left.CRC = crc32.Checksum(data[i:], castagnoli())
	if e.at, e.line = left.Start, left.Line; i > 0 {
		e.first = left
	}
	return i, nil
}

func (e *expiry) timestamp(line int64) (int64, error) {
	record, err := e.decoder.Decode(&e.row)
	if err != nil {
		return 0, e.t.bad(e.head.Place(line), err.Error())
	}
	return record.Timestamp.UnixMicro(), nil
}

// tally returns the count of the row's group.
func (e *expiry) tally() *index.Tally {
	provider, category, resource := e.row.Fields[2], e.row.Fields[3], e.row.Fields[4]
	if e.last.Provider != string(provider) || e.last.Category != string(category) ||
		e.last.ResourceType != string(resource) {
		e.last = index.Group{Provider: string(provider), Category: string(category), ResourceType: string(resource)}
	}
	tally := e.groups[e.last]
	if tally == nil {
		tally = &index.Tally{First: index.Never}
		e.groups[e.last] = tally
	}
	return tally
}

// lookForFirst finds the first records that stay of the groups that lose some.
func (e *expiry) lookForFirst(s index.Segment, rows []byte) error {
	if e.waiting == nil {
		groups, err := e.t.store.index.Groups(e.ctx, e.head.ID)
		if err != nil {
			return err
		}
		e.waiting = map[index.Group]bool{}
		for _, g := range groups {
			group := index.Group{Provider: g.Provider, Category: g.Category, ResourceType: g.ResourceType}
			if gone := e.groups[group]; gone != nil && gone.First == index.Never && g.Count > gone.Count {
				e.waiting[group] = true
			}
		}
	}
	for i := 0; i < len(rows) && len(e.waiting) > 0; {
		n, err := e.row.Parse(rows[i:])
		if err != nil {
			return e.t.bad(e.head.Place(s.Line), err.Error())
		}
		group := index.Group{Provider: string(e.row.Fields[2]), Category: string(e.row.Fields[3]),
			ResourceType: string(e.row.Fields[4])}
		if e.waiting[group] {
			if e.groups[group].First, err = e.timestamp(s.Line); err != nil {
				return err
			}
			delete(e.waiting, group)
		}
		i += n
	}
	return nil
}

// settle brings to disk what is owed of an organization's file, or returns why it can't be. Nobody may append to it
// meanwhile.
func (f *flusher) settle(org uuid.UUID) error {
	err := f.flush() // others' errors too
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.owed[org]
	switch {
	case o == nil:
		return nil
	case o.err != nil:
		return o.err
	}
	return err
}
