package sealtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// RunKeys holds a seal.Keys to its contract. open returns a new, empty one, which it closes
// with the test.
func RunKeys(t *testing.T, open func(t *testing.T) seal.Keys) {
	for _, law := range laws() {
		t.Run(law.name, func(t *testing.T) {
			if err := law.check(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// law is one promise of the contract. check returns how it is broken.
type law struct {
	name  string
	check func(context.Context, seal.Keys) error
}

func laws() []law {
	return []law{
		{"NoKeys", noKeys},
		{"ExactBytes", exactBytes},
		{"ByNumber", byNumber},
		{"FirstStays", firstStays},
		{"OneOfMany", oneOfMany},
		{"Replaces", replaces},
		{"ReplacesOnlyWhatWas", replacesOnlyWhatWas},
		{"ReplacesNothing", replacesNothing},
		{"OneReplacer", oneReplacer},
		{"Isolation", isolation},
		{"OwnBytes", ownBytes},
		{"EndedContext", endedContext},
		{"Sealer", servesSealers},
	}
}

// randomKey is a key of this number with every byte that there is.
func randomKey(number uint32) seal.WrappedKey {
	key := seal.WrappedKey{Number: number, Wrapped: make([]byte, 1024)}
	_, _ = rand.Read(key.ID[:])
	for i := range key.Wrapped {
		key.Wrapped[i] = byte(i)
	}
	_, _ = rand.Read(key.Wrapped[256:])
	return key
}

// add adds a key, and wants it to be kept.
func add(ctx context.Context, keys seal.Keys, org uuid.UUID, key seal.WrappedKey) error {
	kept, err := keys.AddDataKey(ctx, org, key)
	if err == nil && !same(kept, key) {
		err = fmt.Errorf("adding %+v returned %+v", key, kept)
	}
	return err
}

func want(ctx context.Context, keys seal.Keys, org uuid.UUID, all ...seal.WrappedKey) error {
	got, err := keys.DataKeys(ctx, org)
	if err != nil {
		return err
	}
	if len(got) != len(all) {
		return fmt.Errorf("%d keys are kept, want %d", len(got), len(all))
	}
	for i := range all {
		if !same(got[i], all[i]) {
			return fmt.Errorf("key %d is %+v, want %+v", i, got[i], all[i])
		}
	}
	return nil
}

func noKeys(ctx context.Context, keys seal.Keys) error { return want(ctx, keys, uuid.New()) }

func exactBytes(ctx context.Context, keys seal.Keys) error {
	org, key := uuid.New(), randomKey(1)
	return errors.Join(add(ctx, keys, org, key), want(ctx, keys, org, key))
}

func byNumber(ctx context.Context, keys seal.Keys) error {
	org, a, b, c := uuid.New(), randomKey(9), randomKey(10), randomKey(11)
	return errors.Join(add(ctx, keys, org, b), add(ctx, keys, org, c), add(ctx, keys, org, a),
		want(ctx, keys, org, a, b, c))
}

func firstStays(ctx context.Context, keys seal.Keys) error {
	org, first := uuid.New(), randomKey(1)
	if err := add(ctx, keys, org, first); err != nil {
		return err
	}
	kept, err := keys.AddDataKey(ctx, org, randomKey(1))
	if err == nil && !same(kept, first) {
		err = errors.New("the second key 1 was returned, not the first")
	}
	return errors.Join(err, want(ctx, keys, org, first))
}

// oneOfMany has many callers add a key of one number at once.
func oneOfMany(ctx context.Context, keys seal.Keys) error {
	org := uuid.New()
	kept, err := together(16, func(int) (seal.WrappedKey, error) { return keys.AddDataKey(ctx, org, randomKey(1)) })
	if err != nil {
		return err
	}
	for _, key := range kept {
		if !same(key, kept[0]) {
			return errors.New("two callers got different keys")
		}
	}
	return want(ctx, keys, org, kept[0])
}

// together calls f so many times at once, with 0, 1, 2 and so on.
func together(times int, f func(i int) (seal.WrappedKey, error)) ([]seal.WrappedKey, error) {
	kept, errs := make([]seal.WrappedKey, times), make([]error, times)
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() { kept[i], errs[i] = f(i) })
	}
	group.Wait()
	return kept, errors.Join(errs...)
}

// another is the same key, wrapped anew.
func another(key seal.WrappedKey) seal.WrappedKey {
	key.Wrapped = randomKey(key.Number).Wrapped
	return key
}

func replaces(ctx context.Context, keys seal.Keys) error {
	org, one, two := uuid.New(), randomKey(1), randomKey(2)
	is := another(one)
	if err := errors.Join(add(ctx, keys, org, one), add(ctx, keys, org, two)); err != nil {
		return err
	}
	kept, err := keys.ReplaceDataKey(ctx, org, one, is)
	if err == nil && !same(kept, is) {
		err = fmt.Errorf("replacing returned %+v, want %+v", kept, is)
	}
	return errors.Join(err, want(ctx, keys, org, is, two))
}

func replacesOnlyWhatWas(ctx context.Context, keys seal.Keys) error {
	org, key := uuid.New(), randomKey(1)
	if err := add(ctx, keys, org, key); err != nil {
		return err
	}
	otherID := key
	otherID.ID[7]++
	for _, was := range []seal.WrappedKey{another(key), otherID} {
		kept, err := keys.ReplaceDataKey(ctx, org, was, another(was))
		if err == nil && !same(kept, key) {
			err = errors.New("replacing what isn't there did not return what is")
		}
		if err != nil {
			return err
		}
	}
	return want(ctx, keys, org, key)
}

func replacesNothing(ctx context.Context, keys seal.Keys) error {
	org, key := uuid.New(), randomKey(2)
	kept, err := keys.ReplaceDataKey(ctx, org, key, another(key))
	if err == nil && !same(kept, seal.WrappedKey{}) {
		err = fmt.Errorf("replacing in an empty store returned %+v", kept)
	}
	return errors.Join(err, want(ctx, keys, org))
}

// oneReplacer has many callers replace one key at once: one of them does, all learn which.
func oneReplacer(ctx context.Context, keys seal.Keys) error {
	org, was := uuid.New(), randomKey(1)
	if err := add(ctx, keys, org, was); err != nil {
		return err
	}
	kept, err := together(16,
		func(int) (seal.WrappedKey, error) { return keys.ReplaceDataKey(ctx, org, was, another(was)) })
	if err != nil {
		return err
	}
	for _, key := range kept {
		if !same(key, kept[0]) || same(key, was) {
			return errors.New("two callers replaced one key")
		}
	}
	return want(ctx, keys, org, kept[0])
}

func isolation(ctx context.Context, keys seal.Keys) error {
	mine, theirs, key, other := uuid.New(), uuid.New(), randomKey(1), randomKey(1)
	if err := errors.Join(add(ctx, keys, mine, key), want(ctx, keys, theirs), add(ctx, keys, theirs, other)); err != nil {
		return err
	}
	if _, err := keys.ReplaceDataKey(ctx, theirs, key, another(key)); err != nil {
		return err
	}
	is := another(key)
	_, err := keys.ReplaceDataKey(ctx, mine, key, is)
	return errors.Join(err, want(ctx, keys, mine, is), want(ctx, keys, theirs, other))
}

// ownBytes changes what was passed in and what was returned.
func ownBytes(ctx context.Context, keys seal.Keys) error {
	org, key := uuid.New(), randomKey(1)
	passed := clone(key)
	kept, err := keys.AddDataKey(ctx, org, passed)
	if err != nil {
		return err
	}
	passed.Wrapped[0]++
	kept.Wrapped[1]++
	got, err := keys.DataKeys(ctx, org)
	if err != nil || len(got) != 1 {
		return fmt.Errorf("%d keys, %w", len(got), err)
	}
	got[0].Wrapped[2]++
	return want(ctx, keys, org, key)
}

func endedContext(ctx context.Context, keys seal.Keys) error {
	org, key := uuid.New(), randomKey(1)
	if err := add(ctx, keys, org, key); err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err1 := keys.DataKeys(ended, org)
	_, err2 := keys.AddDataKey(ended, org, randomKey(2))
	_, err3 := keys.ReplaceDataKey(ended, org, key, another(key))
	if err1 == nil || err2 == nil || err3 == nil {
		return fmt.Errorf("calls with a context that had ended: %w, %w, %w", err1, err2, err3)
	}
	return want(ctx, keys, org, key)
}
