package keys

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// bounds are what somebody's own key, or rule, is good for.
type bounds struct {
	auth.Grant
	from []netip.Prefix
}

// boundsOf looks them up in the file that is being edited, and not in what was in force when the
// caller came in: who was taken out of it meanwhile makes no key.
func (s *Service) boundsOf(d *authfile.Document, p auth.Principal,
	right auth.Right) (authfile.Organization, bounds, error) {
	o, ok := d.Find(p.Org)
	if !ok {
		return o, bounds{}, errGone()
	}
	for _, own := range keysOf(&o.Organization) {
		if own.ID != p.KeyID {
			continue
		}
		b := bounds{own.Grant, own.From}
		// A rule has no end where its tokens and certificates have one: who shows one, or has stolen
		// it, makes no key that is good for longer. Somebody who has signed in to the page has proved
		// more than what they show there.
		if p.Subject != "" && !p.BySession && !p.Expires.IsZero() && (b.Expires.IsZero() || p.Expires.Before(b.Expires)) {
			b.Expires = p.Expires
		}
		if !b.Role.Has(right) {
			return o, bounds{}, errGone()
		}
		if !b.Expires.IsZero() && !b.Expires.After(s.Now()) {
			return o, bounds{}, errGone()
		}
		return o, b, nil
	}
	return o, bounds{}, errGone()
}

// check refuses a key that is, or would be, good for more than what the caller has.
func (b bounds) check(k keyring.StoredKey) error {
	if err := b.checkRights(k); err != nil {
		return err
	}
	if !b.Expires.IsZero() && (k.Expires.IsZero() || k.Expires.After(b.Expires)) {
		return beyond("it is good for longer than what you have, until %s", b.Expires.UTC().Format(time.RFC3339))
	}
	if len(b.from) > 0 && (len(k.From) == 0 ||
		slices.ContainsFunc(k.From, func(n netip.Prefix) bool { return !b.holds(n) })) {
		return beyond("it is good from more addresses than your own, %v", b.from)
	}
	return nil
}

// checkRights refuses a key that may do what somebody may not.
func (b bounds) checkRights(k keyring.StoredKey) error {
	for _, right := range k.Role.Rights() {
		if !b.Role.Has(right) {
			return beyond("its role %s has the right %s, which yours does not", k.Role, right)
		}
	}
	if k.Role.OnStates() && !b.States.Covers(k.States) {
		return beyond("it is for more states than your own, %s", b.States)
	}
	return nil
}

func (b bounds) holds(network netip.Prefix) bool {
	return slices.ContainsFunc(b.from, func(own netip.Prefix) bool {
		return own.Addr().Is4() == network.Addr().Is4() && own.Bits() <= network.Bits() && own.Contains(network.Addr())
	})
}

func beyond(format string, args ...any) error {
	return fault.New(fault.KeyBeyond,
		"you may have to do only with keys that are good for no more than what you have come in with: "+format, args...)
}

// checkWanted refuses what makes no sense, whoever wants it.
func (s *Service) checkWanted(w Wanted) error {
	if _, err := auth.ParseRole(string(w.Role)); err != nil {
		return invalid(err)
	}
	if w.States != nil && !w.Role.OnStates() {
		return fault.New(fault.KeyInvalid, "the role %s has no right on any state", w.Role)
	}
	if w.Name != "" {
		if err := authfile.CheckKeyName(w.Name); err != nil {
			return invalid(err)
		}
	}
	if err := checkLabel(w.Label); err != nil {
		return err
	}
	if !w.Expires.IsZero() && !w.Expires.After(s.Now()) {
		return fault.New(fault.KeyInvalid, "the key would have expired already")
	}
	return nil
}

// ReadNetworks reads addresses and networks, as an auth file has them.
func ReadNetworks(texts []string) ([]netip.Prefix, error) {
	return authfile.ParseNetworks(strings.Join(texts, ", "))
}

func (s *Service) checkRotation(r Rotation) error {
	switch now := s.Now(); {
	case !r.Until.After(now):
		return fault.New(fault.KeyInvalid, "until when the old key is good is in the past")
	case !r.Expires.IsZero() && !r.Expires.After(now):
		return fault.New(fault.KeyInvalid, "the new key would have expired already")
	}
	return checkLabel(r.Label)
}

func checkLabel(label string) error {
	if label == "" {
		return nil
	}
	return invalid(authfile.CheckLabel(label))
}

// invalid makes a fault of why the file takes no such key.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.KeyInvalid, "there can't be such a key: %v", err)
}
