package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlDataKeys   = `SELECT number, id, wrapped FROM data_keys WHERE org = ? ORDER BY number`
	sqlDataKey    = `SELECT number, id, wrapped FROM data_keys WHERE org = ? AND number = ?`
	sqlAddDataKey = `INSERT OR IGNORE INTO data_keys (org, number, id, wrapped) VALUES (?, ?, ?, ?)`
	sqlRewrap     = `UPDATE data_keys SET wrapped = ? WHERE org = ? AND number = ?`
	sqlShredKeys  = `DELETE FROM data_keys WHERE org = ?`
	sqlKeyOwners  = `SELECT DISTINCT org FROM data_keys ORDER BY org`
)

// keys keeps the data keys of the states. It reads by a connection of its own: who asks for keys may have borrowed
// the last reader.
type keys struct {
	store  *Store
	reader *sql.DB
}

var _ seal.Keys = (*keys)(nil)

// DataKeys implements seal.Keys.
func (k *keys) DataKeys(ctx context.Context, org uuid.UUID) (all []seal.WrappedKey, err error) {
	rows, err := k.reader.QueryContext(ctx, sqlDataKeys, org.String())
	if err != nil {
		return nil, storeError(err)
	}
	defer rows.Close()
	for rows.Next() {
		key, err := scanKey(rows.Scan)
		if err != nil {
			return nil, storeError(err)
		}
		all = append(all, key)
	}
	return all, storeError(rows.Err())
}

func scanKey(scan func(...any) error) (key seal.WrappedKey, err error) {
	var id []byte
	err = scan(&key.Number, &id, &key.Wrapped)
	copy(key.ID[:], id)
	return key, err
}

// AddDataKey implements seal.Keys.
func (k *keys) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (kept seal.WrappedKey, err error) {
	if err := ctx.Err(); err != nil {
		return kept, err
	}
	err = k.store.transact(ctx, org, func(t *session) (err error) {
		if err := t.run(sqlAddMark, stateengine.MarkOf(k.store.master.Load())); err != nil {
			return err
		}
		if err := t.run(sqlAddDataKey, org.String(), key.Number, key.ID[:], key.Wrapped); err != nil {
			return err
		}
		kept, err = scanKey(t.queryRow(sqlDataKey, org.String(), key.Number).Scan)
		return err
	})
	return kept, err
}

// ReplaceDataKey implements seal.Keys.
func (k *keys) ReplaceDataKey(ctx context.Context, org uuid.UUID, was,
	is seal.WrappedKey) (kept seal.WrappedKey, err error) {
	if err := ctx.Err(); err != nil {
		return kept, err
	}
	err = k.store.transact(ctx, org, func(t *session) error {
		kept, err = scanKey(t.queryRow(sqlDataKey, org.String(), was.Number).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			kept = seal.WrappedKey{}
			return nil
		}
		if err != nil || kept.ID != was.ID || !bytes.Equal(kept.Wrapped, was.Wrapped) {
			return err
		}
		kept = seal.WrappedKey{Number: is.Number, ID: is.ID, Wrapped: bytes.Clone(is.Wrapped)}
		return t.run(sqlRewrap, is.Wrapped, org.String(), is.Number)
	})
	return kept, err
}

// owners returns the organizations that have data keys.
func (k *keys) owners(ctx context.Context) (all []uuid.UUID, err error) {
	rows, err := k.reader.QueryContext(ctx, sqlKeyOwners)
	if err != nil {
		return nil, storeError(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, storeError(err)
		}
		org, err := uuid.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, org)
	}
	return all, storeError(rows.Err())
}
