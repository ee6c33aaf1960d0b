package verify

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// refused remembers credentials that are wrong, bounded in number: sending them again
// tells nobody anything, so it needs no comparison and costs no guess. A client that was
// left with an old key, and goes on trying, must not use up what others at its address
// have. But each has an account, like an address. It is safe for concurrent use.
type refused struct {
	entries   *lru.Cache[tag, wrong]
	perMinute int
}

type wrong struct {
	generation uint64 // of the keyring that they are wrong for
	*account
}

func newRefused(number, perMinute int) (refused, error) {
	entries, err := lru.New[tag, wrong](number)
	return refused{entries, perMinute}, err
}

// again returns why the credentials are refused: errAgain, or a tooManyError; nil when
// they are not known to be wrong.
func (r refused) again(t tag, generation uint64, now time.Time) error {
	w, ok := r.entries.Get(t)
	switch {
	case !ok || w.generation != generation:
		return nil
	case w.AllowN(now, 1):
		return errAgain
	}
	return tooManyError{"with the same wrong key", w.untilNext(now)}
}

func (r refused) put(t tag, generation uint64) {
	r.entries.Add(t, wrong{generation, newAccount(r.perMinute)})
}
