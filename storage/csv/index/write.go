package index

import "github.com/google/uuid"

// Begin makes an organization known, with an empty file, and returns its ID. It comes
// before the file itself, so that a crash in the first append is told from a file that
// somebody brought along.
func (x *Index) Begin(org uuid.UUID) (id int64, err error) {
	err = x.do(org, func(t tx) (err error) {
		id, err = t.insert(Change{Org: org, Head: Head{Newest: Never, Line: 1}})
		return err
	})
	return id, err
}

// Commit records the change durably, and returns the organization's ID. If the error is
// Uncertain, Settle has to be asked.
func (x *Index) Commit(c Change) (id int64, err error) {
	err = x.do(c.Org, func(t tx) (err error) {
		if id = c.Head.ID; id == 0 {
			if id, err = t.insert(c); err != nil {
				return err
			}
		} else if err := t.update(c.Head); err != nil {
			return err
		}
		return t.parts(id, c)
	})
	return id, err
}

// SetSeal records that the file was found to be unchanged under this seal.
func (x *Index) SetSeal(org uuid.UUID, id int64, seal Seal) error {
	return x.do(org, func(t tx) error {
		return t.exec("UPDATE orgs SET inode = ?, changed = ? WHERE id = ?", seal.Inode, seal.Changed, id)
	})
}

// Settle returns the committed length of the organization's file after an Uncertain
// error: before the writer runs another job, it writes over a commit that failed.
func (x *Index) Settle(org uuid.UUID, id int64) (length int64, err error) {
	err = x.do(org, func(t tx) error {
		return t.QueryRow("SELECT length FROM orgs WHERE id = ?", id).Scan(&length)
	})
	return length, err
}

// Probe writes something durably.
func (x *Index) Probe() error {
	return x.do(uuid.Nil, tx.probe)
}

// Prune forgets up to limit of the oldest batches that were recorded before this time,
// and returns how many.
func (x *Index) Prune(before int64, limit int) (n int64, err error) {
	err = x.do(uuid.Nil, func(t tx) error {
		result, err := t.Exec(`DELETE FROM batches WHERE created < ?1 AND seq IN
			(SELECT seq FROM batches ORDER BY seq LIMIT ?2)`, before, limit)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

func (t tx) probe() error { return t.exec("UPDATE meta SET probe = probe + 1") }

func (t tx) insert(c Change) (int64, error) {
	h := c.Head
	result, err := t.Exec(`INSERT INTO orgs (org, length, newest, records, line, inode, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, c.Org.String(), h.Length, h.Newest, h.Records, h.Line, h.Seal.Inode, h.Seal.Changed)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (t tx) update(h Head) error {
	return t.exec(`UPDATE orgs SET length = ?, newest = ?, records = ?, line = ?, inode = ?, changed = ? WHERE id = ?`,
		h.Length, h.Newest, h.Records, h.Line, h.Seal.Inode, h.Seal.Changed, h.ID)
}

func (t tx) parts(id int64, c Change) error {
	for _, s := range c.Segments {
		if err := t.segment(id, s); err != nil {
			return err
		}
	}
	for _, b := range c.Batches {
		if err := t.batch(id, b); err != nil {
			return err
		}
	}
	for group, tally := range c.Groups {
		if err := t.group(id, group, tally); err != nil {
			return err
		}
	}
	return t.journal(id, c.Journal)
}

func (t tx) segment(id int64, s Segment) error {
	return t.exec(`INSERT INTO segments (org, start, length, records, line, first, last, crc, lf)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET length = excluded.length, records = excluded.records,
			last = excluded.last, crc = excluded.crc`,
		id, s.Start, s.Length, s.Records, s.Line, s.First, s.Last, s.CRC, s.LF)
}

func (t tx) batch(id int64, b Batch) error {
	return t.exec(`INSERT INTO batches (org, id, digest, request, at, count, created, start, length, line, crc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, b.ID, b.Digest[:], b.Request, b.At, b.Count, b.Created, b.Start, b.Length, b.Line, b.CRC)
}

func (t tx) group(id int64, g Group, tally Tally) error {
	return t.exec(`INSERT INTO groups (org, provider, category, resource_type, count, first, last)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET count = count + excluded.count, last = excluded.last`,
		id, g.Provider, g.Category, g.ResourceType, tally.Count, tally.First, tally.Last)
}
