package sealtest

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

func TestMemory(t *testing.T) {
	RunKeys(t, func(*testing.T) seal.Keys { return &Memory{} })
}

// broken is a Memory with one method that breaks its promise.
type broken struct {
	*Memory
	list    func(ctx context.Context, org uuid.UUID) ([]seal.WrappedKey, error)
	add     func(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error)
	replace func(ctx context.Context, org uuid.UUID, was, is seal.WrappedKey) (seal.WrappedKey, error)
}

func (b *broken) DataKeys(ctx context.Context, org uuid.UUID) ([]seal.WrappedKey, error) {
	if b.list == nil {
		return b.Memory.DataKeys(ctx, org)
	}
	return b.list(ctx, org)
}

func (b *broken) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
	if b.add == nil {
		return b.Memory.AddDataKey(ctx, org, key)
	}
	return b.add(ctx, org, key)
}

func (b *broken) ReplaceDataKey(ctx context.Context, org uuid.UUID, was, is seal.WrappedKey) (seal.WrappedKey, error) {
	if b.replace == nil {
		return b.Memory.ReplaceDataKey(ctx, org, was, is)
	}
	return b.replace(ctx, org, was, is)
}

// put keeps a key whatever was there.
func (b *broken) put(org uuid.UUID, key seal.WrappedKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, there := b.find(org, key.Number)
	if there {
		b.keys[org][i] = clone(key)
		return
	}
	if b.keys == nil {
		b.keys = map[uuid.UUID][]seal.WrappedKey{}
	}
	b.keys[org] = append(b.keys[org], clone(key))
}

// breakages are the ways to break the contract, with the laws that have to notice.
func breakages() map[string]struct {
	breakIt func(*broken)
	laws    []string
} {
	return map[string]struct {
		breakIt func(*broken)
		laws    []string
	}{
		"last one wins": {func(b *broken) {
			b.add = func(_ context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				b.put(org, key)
				return key, nil
			}
		}, []string{"FirstStays", "EndedContext"}},
		"returns what was passed": {func(b *broken) {
			b.add = func(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				_, err := b.Memory.AddDataKey(ctx, org, key)
				return key, err
			}
		}, []string{"FirstStays", "OneOfMany"}},
		"replaces whatever is there": {func(b *broken) {
			b.replace = func(_ context.Context, org uuid.UUID, _, is seal.WrappedKey) (seal.WrappedKey, error) {
				b.put(org, is)
				return is, nil
			}
		}, []string{"ReplacesOnlyWhatWas", "ReplacesNothing", "OneReplacer"}},
		"replaces nothing": {func(b *broken) {
			b.replace = func(_ context.Context, _ uuid.UUID, _, is seal.WrappedKey) (seal.WrappedKey, error) { return is, nil }
		}, []string{"Replaces", "ReplacesOnlyWhatWas"}},
		"mixes organizations": {func(b *broken) {
			one := uuid.New()
			b.list = func(ctx context.Context, _ uuid.UUID) ([]seal.WrappedKey, error) { return b.Memory.DataKeys(ctx, one) }
			b.add = func(ctx context.Context, _ uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				return b.Memory.AddDataKey(ctx, one, key)
			}
		}, []string{"Isolation"}},
		"in order of arrival": {func(b *broken) {
			b.list = func(ctx context.Context, org uuid.UUID) ([]seal.WrappedKey, error) {
				all, err := b.Memory.DataKeys(ctx, org)
				if len(all) == 3 {
					all[0], all[2] = all[2], all[0]
				}
				return all, err
			}
		}, []string{"ByNumber"}},
		"cuts bytes off": {func(b *broken) {
			b.add = func(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				key.Wrapped = key.Wrapped[:min(len(key.Wrapped), 255)]
				return b.Memory.AddDataKey(ctx, org, key)
			}
		}, []string{"ExactBytes"}},
		"ignores contexts": {func(b *broken) {
			b.list = func(_ context.Context, org uuid.UUID) ([]seal.WrappedKey, error) {
				return b.Memory.DataKeys(context.Background(), org)
			}
			b.add = func(_ context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				return b.Memory.AddDataKey(context.Background(), org, key)
			}
		}, []string{"EndedContext"}},
		"shares its bytes": {func(b *broken) {
			b.add = func(_ context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.keys = map[uuid.UUID][]seal.WrappedKey{org: {key}}
				return key, nil
			}
		}, []string{"OwnBytes"}},
		"forgets": {func(b *broken) {
			b.list = func(ctx context.Context, _ uuid.UUID) ([]seal.WrappedKey, error) { return nil, ctx.Err() }
		}, []string{"ExactBytes", "Sealer"}},
	}
}

// TestBrokenKeysAreNoticed shows that the suite notices what it is for.
func TestBrokenKeysAreNoticed(t *testing.T) {
	noticed := map[string]bool{}
	for name, breakage := range breakages() {
		for _, wanted := range breakage.laws {
			noticed[wanted] = true
			t.Run(name+"/"+wanted, func(t *testing.T) {
				b := &broken{Memory: &Memory{}}
				breakage.breakIt(b)
				if err := check(t, wanted, b); err == nil {
					t.Error("nothing was noticed")
				}
			})
		}
	}
	for _, law := range laws() {
		if !noticed[law.name] && law.name != "NoKeys" {
			t.Errorf("no broken keys show that %s notices anything", law.name)
		}
	}
}

func check(t *testing.T, name string, keys seal.Keys) error {
	t.Helper()
	for _, law := range laws() {
		if law.name == name {
			return law.check(t.Context(), keys)
		}
	}
	t.Fatalf("there is no law %s", name)
	return nil
}
