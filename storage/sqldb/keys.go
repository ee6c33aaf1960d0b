package sqldb

import (
	"bytes"
	"context"
	"database/sql"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// Keys keeps organizations' wrapped data keys.
type Keys struct{ db *DB }

var _ seal.Keys = (*Keys)(nil)

// NewKeys returns the keys of a database.
func NewKeys(db *DB) *Keys { return &Keys{db} }

// DataKeys implements seal.Keys.
func (k *Keys) DataKeys(ctx context.Context, org uuid.UUID) (all []seal.WrappedKey, err error) {
	err = k.db.Read(ctx, org, func(q Querier) (err error) {
		all, err = All(q, func(rows *sql.Rows) (key seal.WrappedKey, err error) {
			var id []byte
			err = rows.Scan(&key.Number, &id, &key.Wrapped)
			copy(key.ID[:], id)
			return key, err
		}, "SELECT number, id, wrapped FROM data_keys WHERE org = ? ORDER BY number", org.String())
		return err
	})
	return all, err
}

// AddDataKey implements seal.Keys.
func (k *Keys) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (kept seal.WrappedKey, err error) {
	err = k.db.Write(ctx, org, func(tx Tx) error {
		if _, err := Insert(tx, "INSERT INTO data_keys (org, number, id, wrapped) VALUES (?, ?, ?, ?)",
			org.String(), key.Number, key.ID[:], key.Wrapped); err != nil {
			return err
		}
		kept, _, err = dataKey(tx, org, key.Number)
		return err
	})
	return kept, err
}

// ReplaceDataKey implements seal.Keys.
func (k *Keys) ReplaceDataKey(ctx context.Context, org uuid.UUID, was,
	is seal.WrappedKey) (kept seal.WrappedKey, err error) {
	err = k.db.Write(ctx, org, func(tx Tx) error {
		have, found, err := dataKey(tx, org, was.Number)
		kept = have
		if err != nil || !found || have.ID != was.ID || !bytes.Equal(have.Wrapped, was.Wrapped) {
			return err
		}
		kept = seal.WrappedKey{Number: is.Number, ID: is.ID, Wrapped: bytes.Clone(is.Wrapped)}
		_, err = tx.Exec("UPDATE data_keys SET wrapped = ? WHERE org = ? AND number = ?", is.Wrapped, org.String(), is.Number)
		return err
	})
	return kept, err
}

// Any reports whether any organization has a data key.
func (k *Keys) Any(ctx context.Context) (found bool, err error) {
	err = k.db.Read(ctx, uuid.Nil, func(q Querier) (err error) {
		var org string
		found, err = One(q, []any{&org}, "SELECT org FROM data_keys LIMIT 1")
		return err
	})
	return found, err
}

func dataKey(q Querier, org uuid.UUID, number uint32) (key seal.WrappedKey, found bool, err error) {
	var id []byte
	found, err = One(q, []any{&key.Number, &id, &key.Wrapped},
		"SELECT number, id, wrapped FROM data_keys WHERE org = ? AND number = ?", org.String(), number)
	copy(key.ID[:], id)
	return key, found, err
}

// Owners returns the organizations that have data keys.
func (k *Keys) Owners(ctx context.Context) (all []uuid.UUID, err error) {
	err = k.db.Read(ctx, uuid.Nil, func(q Querier) (err error) {
		all, err = All(q, func(rows *sql.Rows) (org uuid.UUID, err error) {
			var text string
			if err := rows.Scan(&text); err != nil {
				return org, err
			}
			return uuid.Parse(text)
		}, "SELECT DISTINCT org FROM data_keys ORDER BY org")
		return err
	})
	return all, err
}
