package sqluploads

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/inventory"
)

// Expire implements inventory.Store. Each call is a transaction that holds the organization's lock, as those that
// record batches do, on any node.
func (s *Store) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (removed int, err error) {
	server, err := s.begin()
	if err != nil {
		return 0, err
	}
	defer s.end()
	release, err := s.turns.Acquire(ctx, org)
	if err != nil {
		return 0, err
	}
	defer release()
	for conflicts := 0; ; conflicts++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		removed, err = s.expire(ctx, transaction{server: server, org: org}, before, limit)
		if err == nil || !s.speaks().IsConflict(err) || conflicts == conflictTries {
			break
		}
		_ = pause.For(ctx, rand.N(time.Duration(conflicts+1)*20*time.Millisecond))
	}
	if err != nil && ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return removed, s.fault(err)
}

// expire runs the transaction once. If the connection is lost it may have been committed: then the next call finds
// fewer records.
func (s *Store) expire(ctx context.Context, t transaction, before time.Time, limit int) (removed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	t.db, t.speaks = conn, s.speaks()
	if removed, err = t.expire(ctx, before, limit); err != nil {
		s.speaks().Abandon(conn, err)
		return 0, err
	}
	_ = conn.Close() // back to the pool
	return removed, nil
}

func (t *transaction) expire(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	if _, err := t.db.ExecContext(ctx, "START TRANSACTION"); err != nil {
		return 0, err
	}
	if err := t.lock(ctx); err != nil && !errors.Is(err, errNoOrganization) {
		return 0, err
	}
	if !t.newest.IsZero() { // else there is no table
		if removed, err = t.removeOldest(ctx, before, limit); err != nil {
			return 0, err
		}
	}
	_, err = t.db.ExecContext(ctx, "COMMIT")
	return removed, err
}

// oldRecord is what counts of a record that goes.
type oldRecord struct {
	id    int64
	at    time.Time
	group [3]string
	bytes int64 // of its name and attributes
}

// removeOldest removes records and what they count for. IDs grow with timestamps, so the oldest have the lowest.
func (t *transaction) removeOldest(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	oldest, err := list(ctx, t.db, func(r *oldRecord) []any {
		return []any{&r.id, &r.at, &r.group[0], &r.group[1], &r.group[2], &r.bytes}
	}, "SELECT id, timestamp, provider, category, resource_type, OCTET_LENGTH(resource_name) + "+
		"OCTET_LENGTH("+t.speaks.attributesText()+") FROM "+tableOf(t.org)+" ORDER BY id LIMIT ?", limit+1)
	if err != nil {
		return 0, err
	}
	n := inventory.CountExpired(oldest, before, limit, func(r oldRecord) time.Time { return r.at })
	if n == 0 {
		return 0, nil
	}
	_, err = t.db.ExecContext(ctx, "DELETE FROM "+tableOf(t.org)+" WHERE id <= ?", oldest[n-1].id)
	if err != nil {
		return 0, err
	}
	var used int64
	groups := map[[3]string]int64{}
	for _, r := range oldest[:n] {
		used += inventory.RecordBytes(r.group, r.bytes)
		groups[r.group]++
	}
	_, err = t.db.ExecContext(ctx, "UPDATE inventory_usage SET bytes = GREATEST(bytes - ?, 0) WHERE org = ?", used,
		t.org.String())
	if err != nil {
		return 0, err
	}
	for group, count := range groups {
		if err := t.uncount(ctx, group, count); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// uncount takes records that went out of their group, which begins with the oldest one that stays.
func (t *transaction) uncount(ctx context.Context, group [3]string, count int64) error {
	names := namesOf(group[0], group[1], group[2])
	_, err := t.db.ExecContext(ctx, "UPDATE inventory_groups SET records = records - ? WHERE org = ? AND names = ?",
		count, t.org.String(), names)
	if err != nil {
		return err
	}
	_, err = t.db.ExecContext(ctx, "DELETE FROM inventory_groups WHERE org = ? AND names = ? AND records <= 0",
		t.org.String(), names)
	if err != nil {
		return err
	}
	// The lengths are for collations that take names for equal that differ in blanks at their ends.
	_, err = t.db.ExecContext(ctx, `UPDATE inventory_groups SET first_at = COALESCE((
		SELECT timestamp FROM `+tableOf(t.org)+` WHERE resource_type = ? AND category = ? AND provider = ?
			AND OCTET_LENGTH(resource_type) = ? AND OCTET_LENGTH(category) = ? AND OCTET_LENGTH(provider) = ?
			ORDER BY id LIMIT 1), first_at) WHERE org = ? AND names = ?`,
		group[2], group[1], group[0], len(group[2]), len(group[1]), len(group[0]), t.org.String(), names)
	return err
}
