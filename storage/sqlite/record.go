package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Head implements stateengine.StateTx.
func (r stateRows) Head() (stateengine.HeadRow, error) {
	if r.in.Ref() != r.ref {
		return r.t.headOf(r.t.seals.Of(context.Background(), r.ref))
	}
	return r.t.headOf(r.in)
}

// Ask implements stateengine.StateTx.
func (r stateRows) Ask(id int64, q stateengine.Questions) (facts stateengine.Facts, err error) {
	ask := func(asked bool, answer func() error) {
		if asked && err == nil {
			err = answer()
		}
	}
	ask(q.Digest != "", func() error {
		return r.t.queryRow(sqlIsPurged, id, []byte(q.Digest)).Scan(&facts.Purged)
	}) // too rare to be prepared
	ask(q.LockID != "", func() error {
		return r.t.lockUsed.QueryRowContext(context.Background(), id, q.LockID).Scan(&facts.LockUsed)
	})
	ask(q.Candidate != "", func() (err error) {
		facts.Candidate, err = r.t.statusOf(id, q.Candidate)
		return err
	})
	ask(q.Candidate != "" && facts.Candidate == "", func() error {
		return r.t.openCandidates.QueryRowContext(context.Background(), id).Scan(&facts.Open)
	})
	ask(q.Settle != "", func() (err error) {
		facts.Settle, err = r.t.statusOf(id, q.Settle)
		return err
	})
	ask(q.Base != nil, func() (err error) {
		facts.IsBase, err = r.t.isBaseOf(id, q.Base)
		return err
	})
	return facts, err
}

// statusOf returns a candidate's status; empty when there is no such candidate.
func (t *session) statusOf(id int64, candidate string) (status state.CandidateStatus, err error) {
	err = t.candidateStatus.QueryRowContext(context.Background(), id, candidate).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return status, err
}

// isBaseOf reports whether b is a base among the state's versions.
func (t *session) isBaseOf(id int64, b *stateengine.Base) (there bool, err error) {
	err = t.isBase.QueryRowContext(context.Background(), b.ID, id, int64(b.Number), b.Kept).Scan(&there)
	return there, err
}

// Room implements stateengine.StateTx: there is one writer, so that nobody else takes the room.
func (r stateRows) Room(_ int64, allow func(used int64) error) (refusal, err error) {
	used, err := usageOf(r.t.usage, r.ref.Org)
	if err != nil {
		return nil, err
	}
	return allow(used), nil
}

// AddState implements stateengine.StateTx.
func (r stateRows) AddState() (int64, error) {
	return r.insert(&r.t.addState, r.ref.Org.String(), string(r.ref.Name))
}

// AddVersion implements stateengine.StateTx.
func (r stateRows) AddVersion(id int64, v state.Version, body stateengine.Stored) (int64, error) {
	version, err := r.insert(&r.t.addVersion, append([]any{id}, stateengine.VersionValues(v, body)...)...)
	if err != nil {
		return 0, err
	}
	if err := r.exec(&r.t.addBody, version, body.Encoding, body.Bytes, body.Base.ID); err != nil {
		return 0, err
	}
	return version, r.exec(&r.t.setNewest, version, id)
}

// SetDeleted implements stateengine.StateTx.
func (r stateRows) SetDeleted(id int64, at *time.Time, undeleted bool) error {
	if at == nil {
		return r.exec(&r.t.setDeleted, nil, undeleted, id)
	}
	return r.exec(&r.t.setDeleted, at.UnixMicro(), undeleted, id)
}

// Release implements stateengine.StateTx.
func (r stateRows) Release(id int64, _ *state.Lock) error {
	if err := r.t.exec(r.t.retireLock, id); err != nil {
		return err
	}
	return r.exec(&r.t.release, id)
}

// SetLock implements stateengine.StateTx.
func (r stateRows) SetLock(id int64, l *state.Lock) error {
	return r.exec(&r.t.setLock, append(stateengine.LockValues(l), id)...)
}

// SetSeen implements stateengine.StateTx.
func (r stateRows) SetSeen(id int64, at time.Time) error {
	return r.exec(&r.t.setSeen, at.UnixMicro(), id)
}

// SetFence implements stateengine.StateTx.
func (r stateRows) SetFence(id int64, f state.Fence) error {
	return r.exec(&r.t.setFence, f.Run, f.Epoch, f.Open, id)
}

// SetExpected implements stateengine.StateTx.
func (r stateRows) SetExpected(id int64, value any) error {
	return r.exec(&r.t.setExpected, value, id)
}

// AddCandidate implements stateengine.StateTx.
func (r stateRows) AddCandidate(id int64, c *state.Candidate, body stateengine.Stored) error {
	row := append([]any{id}, stateengine.CandidateValues(c, body)...)
	_, err := r.t.insert(r.t.addCandidate, append(row, body.Encoding, body.Bytes)...)
	return err
}

// Settle implements stateengine.StateTx.
func (r stateRows) Settle(id int64, s state.Settlement, twins []byte) error {
	if twins != nil {
		if err := r.t.run(sqlSettleTwins, string(s.Status), s.At.UnixMicro(), id, twins); err != nil {
			return err
		}
	}
	return r.t.exec(r.t.settle, string(s.Status), s.At.UnixMicro(), id, s.ID)
}

// AddEvent implements stateengine.StateTx.
func (r stateRows) AddEvent(e audit.Event) error { return r.t.recordEvent(e) }

// Done implements stateengine.StateTx.
func (r stateRows) Done(was, next stateengine.HeadRow) {
	r.t.census.Note(r.ref, was.Head, next.Head)
	r.t.heads.keep(r.ref, next)
}

// Oldest implements stateengine.PruneTx.
func (r stateRows) Oldest(limit int) (*sql.Rows, error) {
	return r.t.conn.QueryContext(context.Background(), sqlOldest, r.ref.Org.String(), string(r.ref.Name), limit)
}

// NeededUpTo implements stateengine.PruneTx.
func (r stateRows) NeededUpTo(last uint64) (base uint64, err error) {
	err = r.t.queryRow(sqlNeeded, r.ref.Org.String(), string(r.ref.Name), int64(last), int64(last+stateengine.GroupLength),
		int64(last)).Scan(&base)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return base, err
}

// DropVersions implements stateengine.PruneTx.
func (r stateRows) DropVersions(ids []int64) error {
	for _, id := range ids {
		if _, err := r.run(sqlDropBody, id); err != nil {
			return err
		}
		if _, err := r.run(sqlDropVersion, id); err != nil {
			return err
		}
	}
	return nil
}
