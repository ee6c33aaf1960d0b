package states

import (
	"time"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Head implements stateengine.StateTx. It locks the state's row, if there is one; where there is
// none, of two that add it one fails, and is tried again.
func (t *tx) Head() (stateengine.HeadRow, error) {
	var (
		scan     stateengine.HeadScan
		base     int64
		digest   []byte
		encoding string
	)
	org, name := t.ref.Org.String(), string(t.ref.Name)
	if t.sql.isPostgres() {
		if found, err := t.Lock(sqlLockID, org, name); err != nil || !found {
			return stateengine.HeadRow{}, err
		}
	}
	found, err := t.One(append([]any{&base, &digest, &encoding}, scan.Fields()...), t.texts.lockHead, org, name)
	if err != nil || !found {
		return stateengine.HeadRow{}, err
	}
	row, err := scan.Value(t.in)
	if encoding != "" && err == nil {
		if sum, damaged := t.in.Digest(digest); damaged == nil {
			row.Base = stateengine.BaseID{ID: row.ID, Number: uint64(base), Digest: sum}
		}
	}
	return row, err
}

// Ask implements stateengine.StateTx, by one statement.
func (t *tx) Ask(id int64, q stateengine.Questions) (facts stateengine.Facts, err error) {
	if !q.Any() {
		return facts, nil
	}
	var (
		parts      []string
		args, dest []any
	)
	ask := func(asked bool, part string, to any, with ...any) {
		if asked {
			parts, dest, args = append(parts, part), append(dest, to), append(args, with...)
		}
	}
	ask(q.Digest != "", "EXISTS (SELECT 1 FROM state_purged WHERE state = ? AND digest = ?)", &facts.Purged, id,
		[]byte(q.Digest))
	ask(q.LockID != "", sqlLockUsed, &facts.LockUsed, id, q.LockID)
	const status = "coalesce((SELECT status FROM state_candidates WHERE state = ? AND id = ?), '')"
	ask(q.Candidate != "", status, &facts.Candidate, id, q.Candidate)
	ask(q.Candidate != "", "(SELECT COUNT(*) FROM state_candidates WHERE state = ? AND is_open = 1)", &facts.Open, id)
	ask(q.Settle != "", status, &facts.Settle, id, q.Settle)
	if b := q.Base; b != nil {
		ask(b.ID == id, sqlIsBase, &facts.IsBase, id, int64(b.Number), b.Kept)
	}
	if len(parts) == 0 {
		return facts, nil
	}
	_, err = t.One(dest, "SELECT "+join(parts), args...)
	return facts, err
}

// AddState implements stateengine.StateTx.
func (t *tx) AddState() (int64, error) {
	t.grow(t.ref.Org, state.RowBytes)
	return t.Added("id", sqlAddState, t.ref.Org.String(), string(t.ref.Name))
}

// AddVersion implements stateengine.StateTx.
func (t *tx) AddVersion(id int64, v state.Version, body stateengine.Stored) (int64, error) {
	var base any
	if body.Base.Number != 0 {
		base = int64(body.Base.Number)
	}
	args := append([]any{id}, stateengine.VersionValues(v, body)...)
	args = append(args, body.Encoding, body.Counted(), base)
	if err := t.Later(sqlAddVersion+tuple(len(args)), args...); err != nil {
		return 0, err
	}
	t.made = &v
	t.grow(t.ref.Org, state.RowBytes+int64(body.Counted()))
	t.set(id, "newest, deleted_at, undeleted, is_deleted", int64(v.Number), nil, false, false)
	return id, t.addPieces(id, int64(v.Number), body.Bytes)
}

// addPieces stores a body. Large ones are sent at once, one piece after the other.
func (t *tx) addPieces(id, number int64, body []byte) error {
	for piece := 0; piece*pieceBytes < len(body); piece++ {
		part := body[piece*pieceBytes : min((piece+1)*pieceBytes, len(body))]
		var err error
		if t.Fits(2 * len(part)) {
			err = t.Later(sqlAddPiece, id, number, piece, part)
		} else {
			_, err = t.Exec(sqlAddPiece, id, number, piece, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetDeleted implements stateengine.StateTx.
func (t *tx) SetDeleted(id int64, at *time.Time, undeleted bool) error {
	var micros any
	if at != nil {
		micros = at.UnixMicro()
	}
	t.set(id, "deleted_at, undeleted, is_deleted", micros, undeleted, at != nil)
	return nil
}

// Release implements stateengine.StateTx.
func (t *tx) Release(id int64, held *state.Lock) error {
	t.set(id, "released_id", held.Info.ID)
	t.freeLock(id)
	return t.Later(t.sql.InsertNew(newLockID), id, held.Info.ID)
}

// freeLock has the row tell of no lock.
func (t *tx) freeLock(id int64) {
	t.set(id, stateengine.LockNames+", is_locked", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, false)
}

// SetLock implements stateengine.StateTx.
func (t *tx) SetLock(id int64, l *state.Lock) error {
	t.set(id, stateengine.LockNames+", is_locked", append(stateengine.LockValues(l), true)...)
	return nil
}

// SetSeen implements stateengine.StateTx.
func (t *tx) SetSeen(id int64, at time.Time) error {
	t.set(id, "lock_seen", at.UnixMicro())
	return nil
}

// SetFence implements stateengine.StateTx.
func (t *tx) SetFence(id int64, f state.Fence) error {
	t.set(id, "fence_run, fence_epoch, fence_open", f.Run, f.Epoch, f.Open)
	return nil
}

// SetExpected implements stateengine.StateTx.
func (t *tx) SetExpected(id int64, value any) error {
	t.set(id, "expected, is_expected", value, value != nil)
	return nil
}

// Done implements stateengine.StateTx.
func (t *tx) Done(was, next stateengine.HeadRow) {
	t.states += counted(next.Head.Exists()) - counted(was.Head.Exists())
	t.locks += counted(next.Head.Lock != nil) - counted(was.Head.Lock != nil)
	if bytes := state.LockBytes(next.Head.Lock) - state.LockBytes(was.Head.Lock); bytes != 0 {
		t.grow(t.ref.Org, bytes)
	}
}

func counted(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
