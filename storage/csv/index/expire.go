package index

import "github.com/google/uuid"

// Cut is what removing the oldest records of a file changes.
type Cut struct {
	Org uuid.UUID
	// Head is as it is afterwards. The ID is that of an organization that is known.
	Head Head
	// At is the offset of the first record that stays, or of the file's end.
	At int64
	// First is what is left of the segment that the cut goes through; the zero one if it goes through none.
	First Segment
	// Groups are those that have lost records: how many, and the timestamp of the first one that stays, if any does.
	Groups map[Group]Tally
}

// Expire records the cut durably. The file as it is afterwards has to be on disk before, whole: nothing of it stays
// in the journal. If the error is Uncertain, Settle has to be asked.
func (x *Index) Expire(c Cut) error {
	return x.do(c.Org, func(t tx) error {
		h := c.Head
		err := t.exec("UPDATE orgs SET records = ?, inode = ?, changed = ?, base = ?, base_lines = ? WHERE id = ?", h.Records,
			h.Seal.Inode, h.Seal.Changed, h.Base, h.BaseLines, h.ID)
		if err != nil {
			return err
		}
		if err := t.exec("DELETE FROM segments WHERE org = ? AND start < ?", h.ID, c.At); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM journal WHERE org = ?", h.ID); err != nil {
			return err
		}
		if c.First.Length > 0 {
			if err := t.segment(h.ID, c.First); err != nil {
				return err
			}
		}
		for group, tally := range c.Groups {
			if err := t.uncount(h.ID, group, tally); err != nil {
				return err
			}
		}
		return t.exec("DELETE FROM groups WHERE org = ? AND count <= 0", h.ID)
	})
}

func (t tx) uncount(id int64, g Group, gone Tally) error {
	return t.exec(`UPDATE groups SET count = count - ?, first = ?
		WHERE org = ? AND provider = ? AND category = ? AND resource_type = ?`,
		gone.Count, gone.First, id, g.Provider, g.Category, g.ResourceType)
}
