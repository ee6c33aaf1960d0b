package seal_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func TestManyAskForOneKey(t *testing.T) {
	keys, org := &counted{}, uuid.New()
	s := seal.New(newMaster(t), keys)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			mustOpen(t, s, org, "log", "a", mustSeal(t, s, org, "log", "a", plainText), plainText)
		})
	}
	group.Wait()
	if keys.listed.Load() != 1 || keys.added.Load() != 1 {
		t.Errorf("the keys were listed %d times, and %d were added", keys.listed.Load(), keys.added.Load())
	}
}

// Several processes that begin at once use one key.
func TestProcessesShareTheFirstKey(t *testing.T) {
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	sealed := make([][]byte, 20)
	var group sync.WaitGroup
	for i := range sealed {
		group.Go(func() { sealed[i] = mustSeal(t, seal.New(master, keys), org, "log", "a", plainText) })
	}
	group.Wait()
	s := seal.New(master, keys)
	for _, one := range sealed {
		mustOpen(t, s, org, "log", "a", one, plainText)
	}
	if all, err := keys.DataKeys(t.Context(), org); err != nil || len(all) != 1 {
		t.Errorf("%d keys, %v", len(all), err)
	}
}

// Who leaves while the store is slow leaves alone: the others get what they asked for.
func TestWaitersLeaveAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, org := &counted{wait: make(chan struct{})}, uuid.New()
		s := seal.New(newMaster(t), keys)
		ended, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for _, ctx := range []context.Context{ended, t.Context(), ended} {
			group.Go(func() {
				_, err := s.Seal(ctx, org, "log", "a", []byte(plainText))
				if ctx == ended != errors.Is(err, context.Canceled) {
					t.Errorf("the error is %v", err)
				}
			})
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		close(keys.wait)
		group.Wait()
	})
}

func TestFailingStoreIsAskedAgain(t *testing.T) {
	keys, org := &counted{}, uuid.New()
	s, broken := seal.New(newMaster(t), keys), fault.New(fault.StoreUnavailable, "it is gone")
	var failure error = broken
	keys.fail.Store(&failure)
	_, err := s.Seal(t.Context(), org, "log", "a", nil)
	wantCode(t, err, fault.StoreUnavailable)
	keys.fail.Store(nil)
	mustOpen(t, s, org, "log", "a", mustSeal(t, s, org, "log", "a", plainText), plainText)
}

// Opening makes no key, and remembers nothing of organizations that have none.
func TestOpenMakesNoKey(t *testing.T) {
	keys := &counted{}
	s := seal.New(newMaster(t), keys)
	sealed := mustSeal(t, s, uuid.New(), "log", "a", plainText)
	for range 2 {
		_, err := s.Open(t.Context(), uuid.New(), "log", "a", sealed)
		wantCode(t, err, fault.SealKeyMissing)
	}
	if keys.added.Load() != 1 {
		t.Errorf("%d keys were added", keys.added.Load())
	}
}

// What is remembered is bounded: the organization that was used longest ago is asked for again.
func TestRememberedKeysAreBounded(t *testing.T) {
	const room = 1000
	keys := &counted{}
	s, first, second := seal.New(newMaster(t), keys), uuid.New(), uuid.New()
	mustSeal(t, s, first, "log", "a", plainText)
	mustSeal(t, s, second, "log", "a", plainText)
	for range room - 2 {
		mustSeal(t, s, uuid.New(), "log", "a", plainText)
	}
	mustSeal(t, s, first, "log", "a", plainText)
	if keys.listed.Load() != room {
		t.Fatalf("the keys of %d organizations were listed %d times", room, keys.listed.Load())
	}
	mustSeal(t, s, uuid.New(), "log", "a", plainText) // takes the place of the second
	mustSeal(t, s, first, "log", "a", plainText)
	if keys.listed.Load() != room+1 {
		t.Errorf("the keys were listed %d times", keys.listed.Load())
	}
	mustSeal(t, s, second, "log", "a", plainText)
	if keys.listed.Load() != room+2 || keys.added.Load() != room+1 {
		t.Errorf("the keys were listed %d times, and %d were added", keys.listed.Load(), keys.added.Load())
	}
}

func TestRotate(t *testing.T) {
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	s := seal.New(master, keys)
	must(t, s.Rotate(t.Context(), org)) // also before there is a key
	var all [][]byte
	for range 3 {
		all = append(all, mustSeal(t, s, org, "log", "a", plainText))
		must(t, s.Rotate(t.Context(), org))
	}
	seen := map[string]bool{}
	for _, sealed := range all {
		seen[string(sealed[:13])] = true
		mustOpen(t, s, org, "log", "a", sealed, plainText)
	}
	if len(seen) != len(all) {
		t.Errorf("%d data keys sealed, want %d", len(seen), len(all))
	}
}

// Another process opens what the new key sealed at once, and seals with it after minutes.
func TestRotationReachesOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
		s, other := seal.New(master, keys), seal.New(master, keys)
		mustSeal(t, other, org, "log", "a", plainText)
		must(t, s.Rotate(t.Context(), org))
		time.Sleep(6 * time.Minute)
		was, is := mustSeal(t, s, org, "log", "a", plainText), mustSeal(t, other, org, "log", "a", plainText)
		if string(was[:13]) != string(is[:13]) {
			t.Error("the other process seals with the old key")
		}
		must(t, s.Rotate(t.Context(), org))
		mustOpen(t, other, org, "log", "a", mustSeal(t, s, org, "log", "a", plainText), plainText)
	})
}

// One data key that is damaged takes neither its neighbours nor other organizations with it.
func TestDamagedDataKey(t *testing.T) {
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	s := seal.New(master, keys)
	first := mustSeal(t, s, org, "log", "a", plainText)
	must(t, s.Rotate(t.Context(), org))
	second := mustSeal(t, s, org, "log", "a", plainText)
	kept, err := keys.DataKeys(t.Context(), org)
	must(t, err)
	for i := range kept[0].Wrapped {
		damaged := kept[0]
		damaged.Wrapped = append([]byte(nil), kept[0].Wrapped...)
		damaged.Wrapped[i] ^= 1
		if _, err := keys.ReplaceDataKey(t.Context(), org, kept[0], damaged); err != nil {
			t.Fatal(err)
		}
		s := seal.New(master, keys)
		_, err := s.Open(t.Context(), org, "log", "a", first)
		wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
		_, err = s.Sum(t.Context(), org, "log", nil)
		wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
		mustOpen(t, s, org, "log", "a", second, plainText)
		mustSeal(t, s, org, "log", "a", plainText)
		// Mended, it opens again, without a restart.
		if _, err := keys.ReplaceDataKey(t.Context(), org, damaged, kept[0]); err != nil {
			t.Fatal(err)
		}
		mustOpen(t, s, org, "log", "a", first, plainText)
	}
}

// A wrapped key is good for its organization, number and ID only.
func TestWrappedKeysCantBeMoved(t *testing.T) {
	master, keys, org := newMaster(t), &sealtest.Memory{}, uuid.New()
	s := seal.New(master, keys)
	sealed := mustSeal(t, s, org, "log", "a", plainText)
	kept, err := keys.DataKeys(t.Context(), org)
	must(t, err)
	key := kept[0]
	renamed, renumbered := key, key
	renamed.ID[0]++
	renumbered.Number = 2
	for _, moved := range []struct {
		org uuid.UUID
		key seal.WrappedKey
	}{{uuid.New(), key}, {org, renamed}, {org, renumbered}} {
		keys := &sealtest.Memory{}
		_, err := keys.AddDataKey(t.Context(), moved.org, moved.key)
		must(t, err)
		_, err = seal.New(master, keys).Seal(t.Context(), moved.org, "log", "a", nil)
		wantCode(t, err, fault.SealCorrupt)
		_, err = seal.New(master, keys).Open(t.Context(), moved.org, "log", "a", sealed)
		wantCode(t, err, fault.SealCorrupt, fault.SealKeyMissing)
	}
}

// turning has a new master key come before a data key is kept that the old one has wrapped.
type turning struct {
	sealtest.Memory
	turn func()
}

func (k *turning) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
	k.turn()
	return k.Memory.AddDataKey(ctx, org, key)
}

// TestNewKeyWhileRotating makes an organization's first data key while a new master key wraps those of all others: it
// is wrapped by that one too, so that the old one may be taken out of the file.
func TestNewKeyWhileRotating(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	sealtest.MakeMaster(t, dir)
	keys := &turning{}
	s := seal.New(sealtest.MasterIn(dir), keys)
	keys.turn = func() {
		if err := seal.AddMaster(sealtest.MasterFile(dir)); err != nil {
			t.Error(err)
		}
		s.Turn(sealtest.MasterIn(dir))
	}
	sealed := mustSeal(t, s, org, "log", "a", plainText)
	mustOpen(t, s, org, "log", "a", sealed, plainText)
	sealtest.KeepNewest(t, dir)
	mustOpen(t, seal.New(sealtest.MasterIn(dir), &keys.Memory), org, "log", "a", sealed, plainText)
}
