package doctor

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// sqlOrphans are rows of states that contradict each other. A state that is being removed for good is under no
// organization, and goes piece by piece.
func sqlOrphans() []string {
	return []string{
		`SELECT 'the state ' || org || ' ' || name || ' has a newest version that is not there' FROM states
			WHERE newest IS NOT NULL AND newest NOT IN (SELECT id FROM versions)`,
		`SELECT 'version ' || v.number || ' of ' || s.org || ' ' || s.name || ' has no bytes' FROM versions v
			JOIN states s ON s.id = v.state WHERE v.purged = 0 AND s.org <> ''
			AND v.id NOT IN (SELECT id FROM bodies)`,
		`SELECT 'version ' || v.number || ' of ' || s.org || ' ' || s.name || ' was purged, and its bytes are there'
			FROM versions v JOIN states s ON s.id = v.state WHERE v.purged = 1 AND s.org <> ''
			AND v.id IN (SELECT id FROM bodies)`,
		`SELECT 'version ' || v.number || ' of ' || s.org || ' ' || s.name || ' is made of another one that is not there'
			FROM bodies b JOIN versions v ON v.id = b.id JOIN states s ON s.id = v.state
			WHERE b.base IS NOT NULL AND s.org <> '' AND b.base NOT IN (SELECT id FROM bodies WHERE base IS NULL)`,
		`SELECT 'bytes without a version: row ' || id FROM bodies WHERE id NOT IN (SELECT id FROM versions)`,
	}
}

// sqlCounted compares what organizations use with what there is.
const sqlCounted = `SELECT org FROM (SELECT org, bytes FROM usage WHERE bytes <> 0 UNION ALL
	SELECT org, -sum(bytes) FROM (
		SELECT ifnull(s.owner, s.org) AS org, 512 + 2 * (max(ifnull(length(s.lock_raw), 0), 1024) - 1024) AS bytes FROM states s
		UNION ALL SELECT ifnull(s.owner, s.org), 512 + ifnull(length(b.bytes) - 53, 0)
			FROM versions v JOIN states s ON s.id = v.state LEFT JOIN bodies b ON b.id = v.id
		UNION ALL SELECT ifnull(s.owner, s.org), 512 + ifnull(length(c.bytes) - 53, 0)
			FROM candidates c JOIN states s ON s.id = c.state)
	GROUP BY 1) GROUP BY org HAVING sum(bytes) <> 0`

// body is something of a state's that has bytes.
type body struct {
	ref       state.Ref
	number    uint64
	candidate string
}

// states reads every version and every open candidate.
func (d *doctor) states() (err error) {
	const name = "state.db"
	if !d.has(name) {
		return nil
	}
	d.tell("reading states")
	store, err := storage.OpenStates(d.ctx, d.settings, d.log) // brings an old schema up to date first
	if err != nil {
		do := doRestore
		if fault.Is(err, fault.SealKeyMissing) {
			do = doKey
		}
		d.found(name, do, "a server can't open it: %v", err)
		return d.ctx.Err()
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d.stateKeys(name, store)
	var all []body
	var chains []string
	err = d.ask(name, func(db *sql.DB) error {
		for _, query := range sqlOrphans() {
			found, err := texts(d.ctx, db, query)
			if err != nil {
				return err
			}
			for _, what := range found {
				d.found(name, doRestore, "%s", what)
			}
		}
		orgs, err := texts(d.ctx, db, sqlCounted)
		if err != nil {
			return err
		}
		for _, org := range orgs {
			d.found(name, "run `holdfast doctor --repair` while the server is stopped",
				"what the organization %s uses is counted wrong", org).Repair = RepairUsage
		}
		if chains, err = d.chained(name, db); err != nil {
			return err
		}
		all, err = bodiesOf(d, db)
		return err
	})
	if err != nil {
		d.found(name, doRestore, "its rows can't be read: %v", err)
	}
	for _, org := range chains {
		if err := d.chain(name, store, org); err != nil {
			return err
		}
	}
	for _, b := range all {
		if err := d.body(store, b); err != nil {
			return err
		}
	}
	return nil
}

// stateKeys tries to open the data keys of every organization's states.
func (d *doctor) stateKeys(name string, store state.Store) {
	sealing, ok := storage.SealingOf(store)
	if !ok {
		return
	}
	failed, err := sealing.UnopenedKeys(d.ctx)
	if err != nil {
		d.found(name, doRestore, "the keys of states can't be read: %v", err)
	}
	for org, why := range failed {
		d.found(name, unlessForgotten(why, doKey), "what the states of the organization %s are encrypted with can't be opened: %v",
			org, why)
	}
}

// bodiesOf lists all but those of states that are being removed for good, which are under no organization.
func bodiesOf(d *doctor, db *sql.DB) (all []body, err error) {
	rows, err := db.QueryContext(d.ctx, `SELECT s.org, s.name, v.number, '' FROM versions v JOIN states s ON s.id = v.state
		WHERE v.purged = 0 AND s.org <> '' UNION ALL
		SELECT s.org, s.name, 0, c.id FROM candidates c JOIN states s ON s.id = c.state
		WHERE c.status = 'open' AND s.org <> ''`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var b body
		var org, name string
		if err := rows.Scan(&org, &name, &b.number, &b.candidate); err != nil {
			return all, err
		}
		if b.ref.Org, err = uuid.Parse(org); err != nil {
			d.found("state.db", doRestore, "a state belongs to %.60q, which is no organization", org)
			continue
		}
		if b.ref.Name, err = state.ParseName(name); err != nil {
			d.found("state.db", doRestore, "a state of %s is called %.60q, which is no name of one", org, name)
			continue
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// body reads one, which compares its digest.
func (d *doctor) body(store state.Store, b body) (err error) {
	what := fmt.Sprintf("version %d", b.number)
	if b.candidate != "" {
		what = "the candidate " + b.candidate
		d.report.Checked.Candidates++
		_, err = store.Candidate(d.ctx, b.ref, b.candidate)
	} else {
		d.report.Checked.Versions++
		_, err = store.Version(d.ctx, b.ref, b.number)
	}
	if err == nil {
		return nil
	}
	if ended := d.ctx.Err(); ended != nil {
		return ended
	}
	d.found("state.db", unlessForgotten(err, doState), "%s of the state %s of %s can't be read: %v", what, b.ref.Name,
		b.ref.Org, err)
	return nil
}
