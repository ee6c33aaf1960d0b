package doctor

import (
	"database/sql"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

const (
	// sqlChained are the organizations that have a chain, or entries, which have to be in one.
	sqlChained = `SELECT org FROM chains UNION SELECT org FROM events WHERE org <> '` + nobody + `'`
	// sqlLogGaps counts what is missing between the first and the last event of the log, whose sequences have no gaps
	// behind what retention has left of it.
	sqlLogGaps = `SELECT ifnull(max(sequence) - count(*), 0) -
		(SELECT ifnull(max(sequence), 0) FROM audit_checkpoints WHERE org = '` + nobody + `') FROM events`
	sqlBlanked = `SELECT count(*) FROM events WHERE org = '` + nobody + `'`
	nobody     = "00000000-0000-0000-0000-000000000000"

	// chainPage is how many entries are read at once.
	chainPage = 1000

	doChain = "find out who can write to the database; a backup (`holdfast restore`) has the log as it was. An organization " +
		"whose shredding was broken off looks so too: `holdfast org remove --shred` goes on with it"
)

// chained reads which chains there are, and what can be said without them.
func (d *doctor) chained(name string, db *sql.DB) (orgs []string, err error) {
	var gaps int64
	if err := db.QueryRowContext(d.ctx, sqlLogGaps).Scan(&gaps); err != nil {
		return nil, err
	}
	if gaps != 0 {
		d.found(name, doChain, "%d entries of the audit log are missing", gaps)
	}
	if err := db.QueryRowContext(d.ctx, sqlBlanked).Scan(&d.report.Checked.Blanked); err != nil {
		return nil, err
	}
	return texts(d.ctx, db, sqlChained)
}

// chain verifies an organization's part of the audit log.
func (d *doctor) chain(name string, store state.Store, text string) error {
	org, err := uuid.Parse(text)
	if err != nil {
		d.found(name, doChain, "a chain of the audit log belongs to %.60q, which is no organization", text)
		return nil
	}
	for after := (audit.Mark{}); ; {
		v, err := audit.Verify(d.ctx, store, org, audit.Check{After: after, Limit: chainPage})
		if err != nil {
			d.found(name, doRestore, "the audit log of %s can't be read: %v", org, err)
			return d.ctx.Err()
		}
		d.report.Checked.Entries += int64(v.Checked)
		for _, b := range v.Breaks {
			d.found(name, doChain, "the audit log of %s is not as it was written: %s", org, b.Says)
		}
		if after = v.Next; after == (audit.Mark{}) {
			return nil
		}
	}
}
