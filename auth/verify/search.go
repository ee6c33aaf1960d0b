package verify

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// lineup is what a key is compared with.
type lineup struct {
	org    *keyring.Organization
	keys   []keyring.StoredKey // at least one
	counts bool                // false where a comparison only takes its time
}

// search compares the key with all hashes. Each comparison waits for its own turn, so that
// an organization with many keys holds nobody up for longer than one with few. It returns
// how many were made.
func (v *Verifier) search(ctx context.Context, a attempt, l lineup, r rank) (m match, compared int, err error) {
	for i, k := range l.keys {
		if err := v.gate.enter(ctx, visit{a.place, r, i > 0}); err != nil {
			return match{}, i, err
		}
		m, found := v.try(a, l, k)
		v.gate.leave()
		if found {
			return m, i + 1, nil
		}
	}
	return match{}, len(l.keys), reason(a, l)
}

func reason(a attempt, l lineup) error {
	switch {
	case !possibleKey(a.Key):
		return errNoKey
	case !l.counts:
		return errWrongOrg
	}
	return errWrongKey
}

// try is one turn: the comparison with one hash, whose result counts only if it may. A
// check of the same key elsewhere may have been faster.
func (v *Verifier) try(a attempt, l lineup, k keyring.StoredKey) (match, bool) {
	if m, ok := v.verified.get(a.tag, a.ring.generation); ok {
		return m, true
	}
	if !v.compare(k.Hash, a.Key) || !l.counts {
		return match{}, false
	}
	m := match{l.org.Name, l.org.Limits, k, a.ring.generation}
	v.verified.put(a.tag, m)
	return m, true
}

// possibleKey reports whether a key could be anybody's. bcrypt ignores what comes after
// 72 bytes and repeats a key from its NUL on, so that others would pass for what they
// are not.
func possibleKey(key string) bool {
	return key != "" && len(key) <= auth.MaxKeyLength && !strings.Contains(key, "\x00")
}
