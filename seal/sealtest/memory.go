// Package sealtest holds the conformance suite of seal.Keys, and an implementation in memory
// for tests.
package sealtest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// Memory is a seal.Keys that is gone with its process. The zero value is ready for use.
type Memory struct {
	mu   sync.Mutex
	keys map[uuid.UUID][]seal.WrappedKey
}

var _ seal.Keys = (*Memory)(nil)

// DataKeys implements seal.Keys.
func (m *Memory) DataKeys(ctx context.Context, org uuid.UUID) ([]seal.WrappedKey, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []seal.WrappedKey
	for _, key := range m.keys[org] {
		out = append(out, clone(key))
	}
	return out, nil
}

// AddDataKey implements seal.Keys.
func (m *Memory) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
	if err := ctx.Err(); err != nil {
		return seal.WrappedKey{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, there := m.find(org, key.Number)
	if !there {
		if m.keys == nil {
			m.keys = map[uuid.UUID][]seal.WrappedKey{}
		}
		m.keys[org] = slices.Insert(m.keys[org], i, clone(key))
	}
	return clone(m.keys[org][i]), nil
}

// ReplaceDataKey implements seal.Keys.
func (m *Memory) ReplaceDataKey(ctx context.Context, org uuid.UUID, was, is seal.WrappedKey) (seal.WrappedKey, error) {
	if err := ctx.Err(); err != nil {
		return seal.WrappedKey{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, there := m.find(org, was.Number)
	if !there {
		return seal.WrappedKey{}, nil
	}
	if same(m.keys[org][i], was) {
		m.keys[org][i] = clone(is)
	}
	return clone(m.keys[org][i]), nil
}

// find returns where the key of a number is, or belongs.
func (m *Memory) find(org uuid.UUID, number uint32) (int, bool) {
	return slices.BinarySearchFunc(m.keys[org], number, func(key seal.WrappedKey, number uint32) int {
		return cmp.Compare(key.Number, number)
	})
}

func clone(key seal.WrappedKey) seal.WrappedKey {
	key.Wrapped = bytes.Clone(key.Wrapped)
	return key
}

func same(a, b seal.WrappedKey) bool {
	return a.Number == b.Number && a.ID == b.ID && bytes.Equal(a.Wrapped, b.Wrapped)
}
