package states

import (
	"bytes"
	"context"
	"database/sql"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlDataKeys  = `SELECT number, id, wrapped FROM state_data_keys WHERE org = ? ORDER BY number`
	sqlDataKey   = `SELECT number, id, wrapped FROM state_data_keys WHERE org = ? AND number = ? FOR UPDATE`
	newDataKey   = `state_data_keys (org, number, id, wrapped) VALUES (?, ?, ?, ?)`
	sqlRewrap    = `UPDATE state_data_keys SET wrapped = ? WHERE org = ? AND number = ?`
	sqlShredKeys = `DELETE FROM state_data_keys WHERE org = ?`
	sqlKeyOwners = `SELECT DISTINCT org FROM state_data_keys ORDER BY org`
)

// keyConnections is how many read keys at once. They are no readers: who asks for keys may have the last of those.
const keyConnections = 2

// keys keeps the data keys of the states.
type keys struct {
	store *Store
	db    *sql.DB
}

var _ seal.Keys = (*keys)(nil)

// DataKeys implements seal.Keys.
func (k *keys) DataKeys(ctx context.Context, org uuid.UUID) (all []seal.WrappedKey, err error) {
	rows, err := k.db.QueryContext(ctx, sqlDataKeys, org.String())
	if err != nil {
		return nil, k.store.explain(ctx, err)
	}
	err = stateengine.Each(rows, scanKey, func(key seal.WrappedKey) bool {
		all = append(all, key)
		return true
	})
	return all, k.store.explain(ctx, err)
}

func scanKey(scan stateengine.Scan) (key seal.WrappedKey, err error) {
	var id []byte
	err = scan(&key.Number, &id, &key.Wrapped)
	copy(key.ID[:], id)
	return key, err
}

// AddDataKey implements seal.Keys.
func (k *keys) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (kept seal.WrappedKey, err error) {
	err = k.store.transact(ctx, state.Ref{Org: org}, 0, func(t *tx) error {
		if err := t.addMark(k.store.master.Load()); err != nil {
			return err
		}
		if _, err := t.Exec(t.sql.InsertNew(newDataKey), org.String(), key.Number, key.ID[:], key.Wrapped); err != nil {
			return err
		}
		kept, _, err = t.dataKey(org, key.Number)
		return err
	})
	return kept, err
}

func (t *tx) dataKey(org uuid.UUID, number uint32) (key seal.WrappedKey, found bool, err error) {
	var id []byte
	found, err = t.One([]any{&key.Number, &id, &key.Wrapped}, sqlDataKey, org.String(), number)
	copy(key.ID[:], id)
	return key, found, err
}

// ReplaceDataKey implements seal.Keys.
func (k *keys) ReplaceDataKey(ctx context.Context, org uuid.UUID, was,
	is seal.WrappedKey) (kept seal.WrappedKey, err error) {
	err = k.store.transact(ctx, state.Ref{Org: org}, 0, func(t *tx) error {
		have, found, err := t.dataKey(org, was.Number)
		kept = have
		if err != nil || !found || have.ID != was.ID || !bytes.Equal(have.Wrapped, was.Wrapped) {
			return err
		}
		kept = seal.WrappedKey{Number: is.Number, ID: is.ID, Wrapped: bytes.Clone(is.Wrapped)}
		return t.Later(sqlRewrap, is.Wrapped, org.String(), is.Number)
	})
	return kept, err
}

// owners returns the organizations that have data keys.
func (k *keys) owners(ctx context.Context) (all []uuid.UUID, err error) {
	rows, err := k.db.QueryContext(ctx, sqlKeyOwners)
	if err != nil {
		return nil, k.store.explain(ctx, err)
	}
	err = stateengine.Each(rows, func(scan stateengine.Scan) (org uuid.UUID, err error) {
		var text string
		if err := scan(&text); err != nil {
			return org, err
		}
		return uuid.Parse(text)
	}, func(org uuid.UUID) bool {
		all = append(all, org)
		return true
	})
	return all, k.store.explain(ctx, err)
}
