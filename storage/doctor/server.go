package doctor

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/states"
)

// sqlServerOrphans are rows of states in a database server that contradict each other, as far as a copy does not show
// that. Of a state that is being removed for good, which is under no organization, pieces may be left.
func sqlServerOrphans(in sqldb.Dialect) []string {
	org, name := "s.org", "s.name"
	if in == sqldb.Postgres { // which has them as bytes
		org, name = "convert_from(s.org, 'UTF8')", "convert_from(s.name, 'UTF8')"
	}
	return []string{
		`SELECT CONCAT('the state ', ` + org + `, ' ', ` + name + `, ' has a newest version that is not there')
			FROM state_heads s LEFT JOIN state_versions v ON v.state = s.id AND v.number = s.newest
			WHERE s.newest IS NOT NULL AND v.number IS NULL`,
		`SELECT DISTINCT CONCAT('versions without a state: row ', v.state) FROM state_versions v
			LEFT JOIN state_heads s ON s.id = v.state WHERE s.id IS NULL`,
		`SELECT DISTINCT CONCAT('candidates without a state: row ', c.state) FROM state_candidates c
			LEFT JOIN state_heads s ON s.id = c.state WHERE s.id IS NULL`,
		`SELECT CONCAT('bytes of nothing, or of what was purged: rows ', b.state, ' ', b.number)
			FROM (SELECT DISTINCT state, number FROM state_bodies) b
			LEFT JOIN state_versions v ON v.state = b.state AND v.number = b.number
			LEFT JOIN state_candidates c ON c.state = b.state AND c.seq = -b.number
			WHERE coalesce(v.encoding, '') = '' AND coalesce(c.encoding, '') = ''`,
		`SELECT 'the row of state_log is gone' FROM (SELECT 1) one
			WHERE NOT EXISTS (SELECT 1 FROM state_log WHERE id = 1)`,
	}
}

// fromServer makes files of what is in a database server, which are looked through like those of a folder.
func (d *doctor) fromServer() (err error) {
	states, runs := configs.OnServer(d.settings.State.Storage), configs.OnServer(d.settings.Runs.Storage)
	if !states && !runs {
		return nil
	}
	moment, err := storage.OpenDump(d.ctx, d.settings, d.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, moment.Close()) }()
	if err := storage.CheckSchemas(d.ctx, moment, states, runs); err != nil {
		return err
	}
	where := "the database " + storage.DatabaseName(d.settings.Database)
	if states {
		d.called["state.db"] = "states in " + where
		if err := d.statesFrom(moment); err != nil {
			return err
		}
		d.settings.State.Storage = configs.SQLite
	}
	if runs {
		d.called["runs.db"] = "runs in " + where
		if err := d.taken(moment, "runs.db", storage.CopyRuns); err != nil {
			return err
		}
		d.settings.Runs.Storage = configs.SQLite
	}
	return nil
}

// statesFrom looks at what a copy does not show, and makes one.
func (d *doctor) statesFrom(moment *dump.Moment) error {
	const name = "state.db"
	for _, query := range sqlServerOrphans(moment.Dialect) {
		for _, what := range d.asked(moment, name, query) {
			d.found(name, doRestore, "%s", what)
		}
	}
	d.derivedIn(moment, name)
	return d.taken(moment, name, storage.CopyStates)
}

// doRepairDatabase is what a person does about what follows from the rest, in a database.
const doRepairDatabase = "run `holdfast doctor --repair`; nodes may go on meanwhile"

// derivedIn looks at what can be made of the rest again.
func (d *doctor) derivedIn(moment *dump.Moment, name string) {
	var derived states.Derived
	err := moment.Look(d.ctx, func(q moving.Querier) (err error) {
		derived, err = states.CheckDerived(q, moment.Dialect)
		return err
	})
	if err != nil && d.ctx.Err() == nil {
		d.found(name, doRestore, "its rows can't be read: %v", err)
	}
	for _, one := range derived.Miscounted[:min(len(derived.Miscounted), maxComplaints)] {
		d.found(name, doRepairDatabase, "what the organization %s uses is counted wrong", one.Org).Repair = RepairUsage
	}
	if derived.States != 0 || derived.Locks != 0 {
		d.found(name, doRepairDatabase, "states and locks are counted wrong: there are %d and %d more than is said",
			derived.States, derived.Locks).Repair = RepairTotals
	}
	if derived.Unlisted != 0 {
		d.found(name, doRepairDatabase, "lists miss, or show as something else, %d states or candidates",
			derived.Unlisted).Repair = RepairLists
	}
}

// asked returns the texts of a query's rows. One that fails is a finding.
func (d *doctor) asked(moment *dump.Moment, name, query string) (all []string) {
	err := moment.Look(d.ctx, func(q moving.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }, query)
		return err
	})
	if err != nil && d.ctx.Err() == nil {
		d.found(name, doRestore, "its rows can't be read: %v", err)
	}
	return all[:min(len(all), maxComplaints)]
}

// taken makes a file. What can't be read to its end is a finding, and so is what contradicts itself so much that
// no file can be made of it.
func (d *doctor) taken(moment *dump.Moment, name string,
	copied func(context.Context, *dump.Moment, string, *slog.Logger) error) error {
	d.tell("copying " + d.called[name])
	err := copied(d.ctx, moment, d.settings.Storage.Path, d.log)
	if ended := d.ctx.Err(); ended != nil {
		return ended
	}
	if err != nil {
		d.found(name, doRestore, "it can't be copied to be looked at, and was not looked through: %v", err)
		if err = os.Remove(d.path(name)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	info, err := os.Stat(d.path(name))
	if err == nil {
		d.report.Checked.Bytes, d.report.Checked.Files = d.report.Checked.Bytes+info.Size(), d.report.Checked.Files+1
	}
	return err
}
