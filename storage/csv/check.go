package csv

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
)

// check is for readers: nil if the file is as it was left.
func (t *tenant) check(ctx context.Context) error {
	if v, ok := t.glance(); ok {
		return v.refused
	}
	if err := t.gate.acquire(ctx); err != nil {
		return err
	}
	defer t.gate.release()
	return t.ready()
}

// glance returns the view if it still holds, without waiting for anyone.
func (t *tenant) glance() (view, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view.writing {
		return view{}, true // whoever writes has checked it
	}
	now, err := lookAt(t.path)
	return t.view, err == nil && t.view.known && now == t.view.stamp
}

// ready makes sure that the file is as it was left, or was never there, and that head and
// last are right. It needs the gate.
func (t *tenant) ready() error {
	if t.unsettled != nil {
		if err := t.finish(); err != nil {
			return err
		}
	}
	if t.tail != nil {
		if err := t.cutBack(t.tail); err != nil {
			return err
		}
	}
	if v, ok := t.glance(); ok {
		return v.refused
	}
	return t.load()
}

// load learns of the file from the index, and compares. No caller breaks it off: whoever
// comes first does the work for all.
func (t *tenant) load() error {
	t.look(func(v *view) { *v = view{} })
	t.store.files.forget(t.org)
	if err := t.placeKept(context.Background()); err != nil {
		return err
	}
	if err := t.store.mendAgain(context.Background(), t.org); err != nil {
		return err
	}
	now, err := lookAt(t.path)
	if err != nil {
		return err
	}
	if t.head, err = t.store.index.Head(context.Background(), t.org); err != nil {
		return err
	}
	if t.last, err = t.store.index.Last(context.Background(), t.head.ID, t.head.Length); err != nil {
		return err
	}
	switch {
	case now.exists && !now.plain:
		err = t.bad(1, "it is not a regular file")
	case t.head.Length == 0 && now.size == 0:
	case t.head.ID == 0:
		now, err = t.adopt(t.store.life.ctx, now)
	case !now.exists:
		err = t.bad(1, "the file is missing")
	case now.size != t.head.Size() || now.seal != t.head.Seal:
		err = t.verify(t.store.life.ctx, now)
	}
	return t.conclude(now, err)
}

// conclude remembers what was found, so that the next one only has to look whether the
// file has changed again.
func (t *tenant) conclude(now stamp, err error) error {
	if t.store.life.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errClosed() // a large file is not read to its end while the store closes
	}
	if err != nil && !fault.Is(err, fault.StoreCorrupt) {
		return err
	}
	if err != nil {
		t.store.log.Error("upload file refused", "org", t.org, "err", err)
	}
	t.look(func(v *view) { *v = view{known: true, stamp: now, refused: err} })
	return err
}

// inspect compares the whole file, whatever it looks like from outside.
func (t *tenant) inspect(ctx context.Context) error {
	if err := t.gate.acquire(ctx); err != nil {
		return err
	}
	defer t.gate.release()
	return t.compare()
}

// compare is inspect for who has the gate.
func (t *tenant) compare() error {
	if err := t.ready(); err != nil {
		return err
	}
	now, err := lookAt(t.path)
	if err != nil {
		return err
	}
	return t.conclude(now, t.verify(t.store.life.ctx, now))
}

// bad refuses the file because of one of its lines.
func (t *tenant) bad(line int64, reason string) error {
	return (&badFile{path: t.path, first: line, reason: reason}).fault(t.org)
}
