package verify

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// tag stands for an organization and a key: their SHA-256 behind a random key of this
// process. Neither can be found from it.
type tag [32]byte

// secrets are random keys of this process. What is made with them can't be foreseen from
// outside.
type secrets struct{ tags, choices [32]byte }

func newSecrets() secrets {
	var s secrets
	rand.Read(s.tags[:])
	rand.Read(s.choices[:])
	return s
}

// tag is one hash where HMAC takes two and a dozen allocations, at each request. HMAC
// would keep those who have a tag from making another one; nobody is ever given any.
func (s *secrets) tag(c auth.Credentials) tag {
	var room [len(s.tags) + len(c.Org) + auth.MaxKeyLength]byte
	text := append(append(append(room[:0], s.tags[:]...), c.Org[:]...), c.Key...)
	return sha256.Sum256(text)
}

// choice is a number for an organization that stays the same: were it drawn anew, the
// time of several answers would tell an unknown organization from a real one.
func (s *secrets) choice(org uuid.UUID) uint64 {
	mac := hmac.New(sha256.New, s.choices[:])
	mac.Write(org[:])
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

// match is a key that was found good.
type match struct {
	orgName  string
	limits   auth.Limits
	exposure *auth.Exposure
	key      keyring.StoredKey
	edition  uint64 // of the keyring that it was last found in
}

// verified remembers good keys, bounded in number. For a time they need no other check;
// after that they are still known for keys that were good. It is safe for concurrent use.
type verified struct {
	entries *lru.Cache[uint64, verifiedKey]
	keep    time.Duration
	now     func() time.Time
}

type verifiedKey struct {
	tag   tag
	match match
	until time.Time
}

func newVerified(number int, keep time.Duration, now func() time.Time) (*verified, error) {
	entries, err := lru.New[uint64, verifiedKey](number)
	return &verified{entries, keep, now}, err
}

// get returns the match for t, if one was found in the keyring of this edition and not
// too long ago.
func (c *verified) get(t tag, edition uint64) (match, bool) {
	e, ok := c.entry(t)
	if !ok || e.match.edition != edition {
		return match{}, false
	}
	return e.match, c.now().Before(e.until)
}

// hash returns the hash that t was good for, however long ago. Whether it still counts
// for anything is up to the keyring in force.
func (c *verified) hash(t tag) (string, bool) {
	e, ok := c.entry(t)
	return e.match.key.Hash, ok
}

func (c *verified) entry(t tag) (verifiedKey, bool) {
	e, ok := c.entries.Get(t.slot())
	// Only a part of the tag selects the entry; all of it is compared, in constant time.
	if !ok || !hmac.Equal(e.tag[:], t[:]) {
		return verifiedKey{}, false
	}
	return e, true
}

func (c *verified) put(t tag, m match) {
	c.entries.Add(t.slot(), verifiedKey{t, m, c.now().Add(c.keep)})
}

func (t tag) slot() uint64 { return binary.BigEndian.Uint64(t[:8]) }

// refused remembers credentials that are wrong, bounded in number: sending them again
// tells nobody anything, so it needs no comparison and costs no guess. A client that was
// left with an old key, and goes on trying, must not use up what others at its address
// have. They are told that the key is wrong each time: a client that is told to come back waits
// without a word. Each has an account all the same, beyond which the log is spared. It is safe for
// concurrent use.
type refused struct {
	entries   *lru.Cache[tag, wrong]
	perMinute int
}

type wrong struct {
	edition uint64 // of the keyring that they are wrong for
	*account
}

func newRefused(number, perMinute int) (refused, error) {
	entries, err := lru.New[tag, wrong](number)
	return refused{entries, perMinute}, err
}

// again returns why the credentials are refused: errAgain, or errOften; nil when they are not
// known to be wrong.
func (r refused) again(t tag, edition uint64, now time.Time) error {
	w, ok := r.entries.Get(t)
	switch {
	case !ok || w.edition != edition:
		return nil
	case w.AllowN(now, 1):
		return errAgain
	}
	return errOften
}

func (r refused) put(t tag, edition uint64) {
	r.entries.Add(t, wrong{edition, newAccount(r.perMinute)})
}

// sharedChecks lets callers who ask the same thing at the same time share one answer. Unlike
// golang.org/x/sync/singleflight it lets a caller go without failing the others, and
// stops the work when the last one has gone.
type sharedChecks[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*sharedCheck[V]
}

type sharedCheck[V any] struct {
	done    chan struct{}
	stop    context.CancelFunc
	callers int
	value   V
	err     error
}

func newSharedChecks[K comparable, V any]() *sharedChecks[K, V] {
	return &sharedChecks[K, V]{running: make(map[K]*sharedCheck[V])}
}

// do returns what work returns, whoever of those with the same key started it. The
// context of work has the values of the first caller's, and ends when nobody waits for
// it any more.
func (cs *sharedChecks[K, V]) do(ctx context.Context, key K, work func(context.Context) (V, error)) (V, error) {
	c := cs.join(ctx, key, work)
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		cs.abandon(key, c)
		var none V
		return none, ctx.Err()
	}
}

func (cs *sharedChecks[K, V]) join(ctx context.Context, key K, work func(context.Context) (V, error)) *sharedCheck[V] {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c, ok := cs.running[key]; ok {
		c.callers++
		return c
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &sharedCheck[V]{done: make(chan struct{}), stop: stop, callers: 1}
	cs.running[key] = c
	go func() {
		defer stop()
		c.value, c.err = work(ctx)
		cs.finish(key, c)
		close(c.done)
	}()
	return c
}

// finish makes later callers start anew.
func (cs *sharedChecks[K, V]) finish(key K, c *sharedCheck[V]) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.running[key] == c {
		delete(cs.running, key)
	}
}

func (cs *sharedChecks[K, V]) abandon(key K, c *sharedCheck[V]) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.callers--; c.callers > 0 {
		return
	}
	c.stop()
	// Nobody may join a check that has been called off.
	if cs.running[key] == c {
		delete(cs.running, key)
	}
}
