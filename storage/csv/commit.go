package csv

import (
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// record writes a group and answers it, or returns why it can't.
func (t *tenant) record(group []*pending) error {
	p, err := t.newPlan(group)
	if err != nil {
		return err
	}
	defer p.giveBack(&t.store.buffers)
	if len(p.fresh) > 0 {
		if err := t.write(p); err != nil {
			return err
		}
	}
	p.succeed(group)
	return nil
}

// write makes the plan durable: it writes the file, and then commits to the index what it
// wrote, which is what counts. The file itself reaches the disk later.
func (t *tenant) write(p *plan) error {
	if err := t.store.flusher.trouble(t.org); err != nil {
		return err
	}
	if err := t.store.index.Watch(); err != nil {
		return err // another process may have the files by now
	}
	if err := t.begin(p); err != nil {
		return err
	}
	f, err := t.store.files.acquire(t.org, t.path)
	if err != nil {
		return fileError(err)
	}
	t.look(func(v *view) { v.writing = true })
	now, err := t.writeFile(f, p)
	if err != nil {
		return errors.Join(fileError(err), t.cutBack(f))
	}
	if !t.mine(now, p.change.Head.Size()) {
		return t.lost(f)
	}
	p.change.Head.Seal = now.seal
	if _, err := t.store.index.Commit(p.change); err != nil {
		return errors.Join(err, t.failed(f, p, err))
	}
	t.head, t.last = p.change.Head, p.layout.last
	t.look(func(v *view) { *v = view{known: true, stamp: now} })
	t.store.flusher.note(t, p)
	t.store.files.release(t.org, f)
	return nil
}

// begin makes a new organization known before its file is.
func (t *tenant) begin(p *plan) (err error) {
	if t.head.ID != 0 {
		return nil
	}
	if t.head.ID, err = t.store.index.Begin(t.org); err != nil {
		t.look(func(v *view) { *v = view{} }) // it may be known all the same
	}
	p.change.Head.ID = t.head.ID
	return err
}

// writeFile returns how the file looks afterwards.
func (t *tenant) writeFile(f appendFile, p *plan) (stamp, error) {
	if _, err := f.WriteAt(p.bytes, t.head.Size()); err != nil {
		return stamp{}, err
	}
	room := p.borrow(&t.store.buffers, index.PackedRoom(len(p.bytes)))
	p.change.Journal = index.NewJournalEntry(t.head.Length, p.bytes, room)
	return lookAt(t.path)
}

// mine reports whether the file is the one that was written: an editor may have put
// another in its place, and then the bytes went where no name leads any more.
func (t *tenant) mine(now stamp, size int64) bool {
	before := t.look(nil).stamp
	return now.plain && now.size == size && (!before.exists || before.seal.Inode == now.seal.Inode)
}

// lost gives up a file that somebody else has touched. What it is now, the next one finds
// out, and refuses it.
func (t *tenant) lost(f appendFile) error {
	t.look(func(v *view) { *v = view{} })
	_ = f.Close()
	return fault.New(fault.StoreUnavailable, "the organization's upload file was replaced or changed while it was written")
}

// failed deals with an index that did not commit. If it may have, nothing is cut off
// before that is certain: the index would know of bytes that are gone.
func (t *tenant) failed(f appendFile, p *plan, err error) error {
	if index.Uncertain(err) {
		t.tail, t.unsettled = f, p
		return nil
	}
	return t.cutBack(f)
}

// cutBack takes away what a failed append may have written. The file stays open while
// that fails as well, so that the next one can try: it can't be another file.
func (t *tenant) cutBack(f appendFile) error {
	t.tail = f
	if err := t.store.index.Watch(); err != nil {
		return err // what is behind the end may be another process's: the next start sees to it
	}
	if err := f.Truncate(t.head.Size()); err != nil {
		return fileError(err)
	}
	if err := f.Sync(); err != nil {
		return fileError(err)
	}
	now, err := lookAt(t.path)
	if err != nil {
		return err
	}
	t.tail = nil
	_ = f.Close() // what counts was fsynced
	if !t.mine(now, t.head.Size()) {
		t.look(func(v *view) { *v = view{} })
		return nil
	}
	t.look(func(v *view) { v.writing, v.stamp = false, now })
	return nil
}

// finish finds out what became of an append after an uncertain commit.
func (t *tenant) finish() error {
	length, err := t.store.index.Settle(t.org, t.head.ID)
	if err != nil {
		return err
	}
	p, f := t.unsettled, t.tail
	t.unsettled = nil
	if length != p.change.Head.Length {
		return nil // it did not happen: the tail is to be cut off
	}
	t.tail = nil
	t.look(func(v *view) { *v = view{} })
	t.store.flusher.note(t, p)
	t.store.files.release(t.org, f)
	return nil
}
