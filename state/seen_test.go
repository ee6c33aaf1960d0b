package state_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// What is under a lock's ID is a sign of life of its holder with the key that took the lock,
// and of nobody with another: that may write, but doesn't keep the lock from being taken
// over.
func TestSignsOfLife(t *testing.T) {
	for name, sign := range map[string]func(b *bench, p auth.Principal) error{
		"lock again": func(b *bench, p auth.Principal) error {
			_, err := b.Lock(t.Context(), p, "x", state.LockInfo{ID: "a", Who: "ada"})
			return err
		},
		"write": func(b *bench, p auth.Principal) error { return b.putBy(p, instances(3, 4)) },
		"replay": func(b *bench, p auth.Principal) error {
			return b.putBy(p, instances(2, 4))
		},
		"held write": func(b *bench, p auth.Principal) error {
			err := b.putBy(p, instances(3, 0))
			if fault.Is(err, fault.WriteHeld) {
				return nil
			}
			return err
		},
		"rollback": func(b *bench, p auth.Principal) error {
			_, err := b.Rollback(t.Context(), p, "x", 1, "why not", "a")
			return err
		},
		"rollback, replayed": func(b *bench, p auth.Principal) error {
			other := b.owner
			other.KeyID = "k-3"
			for _, who := range []auth.Principal{other, p} {
				if _, err := b.Rollback(t.Context(), who, "x", 1, "why not", "a"); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for key, seen := range map[string]bool{"k-1": true, "k-2": false} {
			b := newBench(t, holding)
			b.must(b.put(instances(1, 4), ""), b.lock("a", "ada"), b.put(instances(2, 4), "a"))
			taken := b.now
			b.now = b.now.Add(time.Minute)
			p := b.owner
			p.KeyID = key
			b.must(sign(b, p))
			lock, err := b.Holder(t.Context(), b.owner, "x")
			if err != nil || lock.Seen.Equal(taken) == seen {
				t.Errorf("%s by %s: %+v, %v; want a sign of life: %v", name, key, lock, err, seen)
			}
		}
	}
}

// putBy writes under the lock a.
func (b *bench) putBy(p auth.Principal, body string) error {
	_, err := b.Put(b.t.Context(), p, "x", state.Write{Body: []byte(body), LockID: "a"})
	return err
}
