package sqlruns

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// row is a run as it is stored.
type row struct {
	run    runs.Run
	body   []byte // its JSON, without the revision
	events int64  // the last one's sequence
}

// columns that scanRow wants.
const columns = "revision, events, body"

func scanRow(r *sql.Rows) (found row, err error) {
	var revision int64
	if err := r.Scan(&revision, &found.events, &found.body); err != nil {
		return row{}, err
	}
	return found, found.decode(revision)
}

func (r *row) decode(revision int64) error {
	if err := json.Unmarshal(r.body, &r.run); err != nil {
		return fault.Wrap(err, fault.StoreCorrupt, "a run in the store is damaged")
	}
	r.run.Revision = revision
	return nil
}

// rowOf encodes a run, and reads it again: so callers get what the next one will.
func rowOf(run runs.Run, revision, events int64) (made row, err error) {
	run.Revision = 0
	made.events = events
	if made.body, err = json.Marshal(run); err != nil {
		return row{}, err
	}
	if len(made.body) > sqldb.MaxRow {
		return row{}, fault.New(fault.BodyTooLarge, "what is known of the run takes %d bytes; the store keeps at most %d",
			len(made.body), sqldb.MaxRow)
	}
	return made, made.decode(revision)
}

func (r row) same(other row) bool { return bytes.Equal(r.body, other.body) }

// load returns a run, or fault.RunNotFound.
func load(q sqldb.Querier, ref runs.Ref) (row, error) {
	found, err := sqldb.All(q, scanRow, "SELECT "+columns+" FROM runs WHERE org = ? AND id = ?", ref.Org.String(), ref.ID)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.RunNotFound, "there is no run %.64q", ref.ID)
	}
	if err != nil {
		return row{}, err
	}
	return found[0], nil
}

// derived are the columns that follow from a run.
func derived() []string {
	return []string{"revision", "events", "workspace", "kind", "status", "pool", "priority", "not_before", "open", "line",
		"queue", "agent", "due", "ended", "leaves", "body"}
}

// had reports whether an executor has the run, or was lost while it applied it.
func had(run runs.Run) bool {
	return run.Executor != nil && (run.Status.Leased() || run.Status == runs.Orphaned)
}

// values are those of derived. Who waits in a line is in no queue: enqueue puts its head there.
func (r row) values() []any {
	run := r.run
	inLine := waits(run)
	agent := ""
	if run.Executor != nil {
		agent = run.Executor.Agent
	}
	due := run.Due()
	return []any{
		run.Revision, r.events, run.Workspace, string(run.Kind), string(run.Status), run.Pool, int64(run.Priority),
		run.NotBefore.UnixMicro(),
		textIf(!run.Status.Ended(), run.Workspace), textIf(inLine, run.Workspace),
		textIf(run.Status.Claimable() && !inLine, run.Pool),
		textIf(had(run), agent), timeIf(!due.IsZero(), due), timeIf(run.Status.Ended(), run.FinishedAt), leaves(run), r.body,
	}
}

// unexecuted is before all times: runs that nobody has executed go before those that somebody has.
const unexecuted = -1 << 60

// leaves says when an ended run goes where there is no room.
func leaves(run runs.Run) any {
	switch {
	case !run.Status.Ended():
		return nil
	case run.StartedAt.IsZero():
		return unexecuted + run.FinishedAt.UnixMicro()
	}
	return run.FinishedAt.UnixMicro()
}

func textIf(there bool, text string) any {
	if there {
		return text
	}
	return nil
}

func timeIf(there bool, at time.Time) any {
	if there {
		return at.UnixMicro()
	}
	return nil
}

// waits reports whether a run waits for its workspace's slot.
func waits(r runs.Run) bool { return r.Kind.Mutates() && r.Status == runs.Pending }

// keyOf is what a call's key is found by; nil for the empty one.
func keyOf(key string) any {
	if key == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// scanRef reads an organization and an ID.
func scanRef(r *sql.Rows) (ref runs.Ref, err error) {
	var org string
	if err := r.Scan(&org, &ref.ID); err != nil {
		return runs.Ref{}, err
	}
	if ref.Org, err = uuid.Parse(org); err != nil {
		return runs.Ref{}, fmt.Errorf("the organization of run %s: %w", ref.ID, err)
	}
	return ref, nil
}

// scanMark reads a time, and what scanRef reads.
func scanMark(r *sql.Rows) (mark runs.Mark, err error) {
	var at int64
	var org string
	if err := r.Scan(&at, &org, &mark.ID); err != nil {
		return runs.Mark{}, err
	}
	mark.At = time.UnixMicro(at).UTC()
	if mark.Org, err = uuid.Parse(org); err != nil {
		return runs.Mark{}, fmt.Errorf("the organization of run %s: %w", mark.ID, err)
	}
	return mark, nil
}

func runsOf(rows []row) []runs.Run {
	var all []runs.Run
	for _, r := range rows {
		all = append(all, r.run)
	}
	return all
}
