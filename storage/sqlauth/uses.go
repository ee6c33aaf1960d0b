package sqlauth

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/storage/sqldb"
)

var _ lastuse.Shared = (*Store)(nil)

// usesAtOnce is how many uses one transaction notes: others wait for it.
const usesAtOnce = 200

// NoteUses implements lastuse.Shared.
func (s *Store) NoteUses(ctx context.Context, uses lastuse.Uses) error {
	for some := range slices.Chunk(slices.SortedFunc(maps.Keys(uses), inOrder), usesAtOnce) {
		err := s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
			for _, c := range some {
				if err := noteUse(tx, c, uses[c]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func inOrder(a, b lastuse.Credential) int {
	return cmp.Or(bytes.Compare(a.Org[:], b.Org[:]), strings.Compare(a.ID, b.ID))
}

// noteUse leaves a row that says of a later one. No other transaction comes between: those of the
// store's own work run one after another.
func noteUse(tx sqldb.Tx, c lastuse.Credential, use lastuse.Use) error {
	later, err := sqldb.Change(tx, "UPDATE key_uses SET at = ?, address = ? WHERE org = ? AND key_id = ? AND at <= ?",
		use.At.UnixMicro(), use.From, c.Org.String(), c.ID, use.At.UnixMicro())
	if later || err != nil {
		return err
	}
	_, err = sqldb.Insert(tx, "INSERT INTO key_uses (org, key_id, at, address) VALUES (?, ?, ?, ?)", c.Org.String(), c.ID,
		use.At.UnixMicro(), use.From)
	return err
}

// Uses implements lastuse.Shared.
func (s *Store) Uses(ctx context.Context) (lastuse.Uses, error) {
	uses := lastuse.Uses{}
	err := s.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) error {
		_, err := sqldb.All(q, func(rows *sql.Rows) (struct{}, error) {
			var org, id, from string
			var at int64
			err := rows.Scan(&org, &id, &at, &from)
			if of, wrong := uuid.Parse(org); wrong == nil && err == nil {
				uses[lastuse.Credential{Org: of, ID: id}] = lastuse.Use{At: time.UnixMicro(at).UTC(), From: from}
			}
			return struct{}{}, err
		}, "SELECT org, key_id, at, address FROM key_uses")
		return err
	})
	return uses, err
}

// ShredUses implements lastuse.Shared. The names of the organization and of its keys are in the
// revisions too that were before it was removed: those go with it.
func (s *Store) ShredUses(ctx context.Context, org uuid.UUID) (removed int, err error) {
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		n, err := sqldb.Count(tx, "DELETE FROM key_uses WHERE org = ?", org.String())
		removed = int(n)
		if err != nil {
			return err
		}
		old, err := forgetBefore(tx)
		removed += old
		return err
	})
	return removed, err
}

// forgetBefore removes all revisions but the newest: others may say something of any organization.
func forgetBefore(tx sqldb.Tx) (removed int, err error) {
	newest, _, err := tip(tx)
	if err != nil || newest == 0 {
		return 0, err
	}
	before, err := sqldb.Count(tx, "DELETE FROM auth_revisions WHERE number < ?", newest)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec("DELETE FROM auth_pieces WHERE number < ?", newest)
	return int(before), errors.Join(err, unmark(tx, newest-1))
}
