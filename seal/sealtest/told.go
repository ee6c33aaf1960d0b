package sealtest

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// Told returns keys of which a test is told what becomes of them, before and after each change.
func Told(keys seal.Keys, tell func(what string)) seal.Keys { return toldKeys{keys, tell} }

type toldKeys struct {
	seal.Keys
	tell func(what string)
}

// AddDataKey implements seal.Keys.
func (k toldKeys) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
	k.tell("a data key is about to be added")
	defer k.tell("a data key was added")
	return k.Keys.AddDataKey(ctx, org, key)
}

// ReplaceDataKey implements seal.Keys.
func (k toldKeys) ReplaceDataKey(ctx context.Context, org uuid.UUID, was, is seal.WrappedKey) (seal.WrappedKey, error) {
	k.tell("a data key is about to be replaced")
	defer k.tell("a data key was replaced")
	return k.Keys.ReplaceDataKey(ctx, org, was, is)
}
