package sqlruns

import (
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// line says who has a workspace's slot, and who is the first to wait for it while nobody has.
type line struct{ holder, head string }

func (t tx) line(workspace string) (l line, err error) {
	_, err = sqldb.One(t, []any{&l.holder, &l.head}, "SELECT holder, head FROM run_lines WHERE org = ? AND workspace = ?",
		t.org, workspace)
	return l, err
}

// step is the change of a run from was, which is the zero Run for a new one, to next, which is
// that for one that is removed.
type step struct {
	was, next runs.Run
	line      line // as it was; of runs that mutate
}

// begin refuses a run that would take a slot which another one has.
func (t tx) begin(was, next runs.Run) (step, error) {
	s := step{was: was, next: next}
	if !next.Kind.Mutates() {
		return s, nil
	}
	var err error
	if s.line, err = t.line(next.Workspace); err != nil {
		return s, err
	}
	if next.Holds() && s.line.holder != "" && s.line.holder != next.ID {
		return s, refusal{&runs.BlockedError{By: s.line.holder}}
	}
	return s, nil
}

// finish brings up to date what follows from the change, which is made.
func (t tx) finish(s step) error {
	touched := queues{}
	touched.add(s.was, s.next)
	if s.next.Kind.Mutates() {
		if err := t.advance(s, touched); err != nil {
			return err
		}
	}
	if err := t.enqueue(touched); err != nil {
		return err
	}
	if s.was.Status.Claimable() && s.next.Status.Leased() {
		if err := t.takeTurn(s.was.Pool); err != nil {
			return err
		}
	}
	return t.count(s)
}

// advance finds the line's new head, and has it in its pool's queue instead of the old one.
func (t tx) advance(s step, touched queues) error {
	next := line{holder: s.line.holder}
	if s.next.Holds() {
		next.holder = s.next.ID
	} else if next.holder == s.next.ID {
		next.holder = ""
	}
	workspace := s.next.Workspace
	if next.holder == "" {
		_, err := sqldb.One(t, []any{&next.head},
			"SELECT id FROM runs WHERE org = ? AND line = ? ORDER BY priority, id LIMIT 1", t.org, workspace)
		if err != nil {
			return err
		}
	}
	if old := s.line.head; old != "" && old != next.head && old != s.next.ID {
		if err := t.requeue(old, "NULL", touched); err != nil {
			return err
		}
	}
	if next.head != "" && (next.head != s.line.head || next.head == s.next.ID) {
		if err := t.requeue(next.head, "pool", touched); err != nil {
			return err
		}
	}
	return t.putLine(workspace, s.line, next)
}

// requeue puts a waiting run into its pool's queue, or takes it out.
func (t tx) requeue(id, queue string, touched queues) error {
	var in place
	found, err := sqldb.One(t, []any{&in.pool, &in.priority}, "SELECT pool, priority FROM runs WHERE org = ? AND id = ?",
		t.org, id)
	if err != nil || !found {
		return err
	}
	touched[in] = true
	return t.exec("UPDATE runs SET queue = "+queue+" WHERE org = ? AND id = ?", t.org, id)
}

func (t tx) putLine(workspace string, was, next line) error {
	switch next {
	case was:
		return nil
	case line{}:
		return t.exec("DELETE FROM run_lines WHERE org = ? AND workspace = ?", t.org, workspace)
	}
	return t.exec(t.Dialect().Upsert("run_lines", []string{"org", "workspace"}, []string{"holder", "head"}), t.org,
		workspace, next.holder, next.head)
}

// count keeps how many runs the organization has, waiting and at work, and which have ended.
func (t tx) count(s step) error {
	if err := t.countDays(s); err != nil {
		return err
	}
	if err := t.keepTroubles(s); err != nil {
		return err
	}
	return t.tally(runs.Tally{
		Waiting: number(s.next.Status == runs.Pending) - number(s.was.Status == runs.Pending),
		Working: number(s.next.Status.Leased()) - number(s.was.Status.Leased()),
		Stored:  number(s.was.ID == ""),
	})
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// tally changes what the organization has.
func (t tx) tally(more runs.Tally) error {
	if more == (runs.Tally{}) {
		return nil
	}
	const query = "UPDATE run_tallies SET waiting = waiting + ?, working = working + ?, kept = kept + ?, bytes = " +
		"bytes + ? WHERE org = ?"
	found, err := sqldb.Change(t, query, more.Waiting, more.Working, more.Stored, more.Bytes, t.org)
	if err != nil || found {
		return err
	}
	return t.exec("INSERT INTO run_tallies (org, waiting, working, kept, bytes) VALUES (?, ?, ?, ?, ?)", t.org,
		more.Waiting, more.Working, more.Stored, more.Bytes)
}
