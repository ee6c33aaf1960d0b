// Package keys lists, makes, rotates and revokes keys of organizations for those who have the right
// to, in the auth file that `holdfast key` edits too. What somebody may have to do with a key is
// bounded by what they came in with: nobody makes a key that may do more than they, nor gets at
// one. In the same way it changes how an organization's states are kept.
package keys

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// MaxKeys is how many keys an organization may have before it can make no more here: one that nobody
// knows is compared with each.
const MaxKeys = 100

// Key is a key, or a rule for tokens or certificates, as lists show it.
type Key struct {
	keyring.StoredKey
	Rule bool // it is none that could be rotated or revoked here
}

// Wanted is a key that somebody wants. Its role must be given.
type Wanted struct {
	Name, Label string
	auth.Grant
	From []netip.Prefix
}

// Rotation says what takes the place of a key.
type Rotation struct {
	Until   time.Time // when the old one ends
	Expires time.Time // when the new one does; zero to leave what the old one has
	Label   string
}

// Deps is what a Service stands on.
type Deps struct {
	// Edit changes the auth file; see authfile.Edit. change may be called several times.
	Edit func(ctx context.Context, change func(*authfile.Document) error) error
	// Take has this server take the file as it is now.
	Take func(ctx context.Context) error
	// InForce are the organizations by which callers are let in.
	InForce func() *keyring.Keyring
	// Said is what the file in force says of an organization but of credentials; false for one that is not there.
	Said  func(org uuid.UUID) (authfile.Settings, bool)
	Gate  *audit.Gate
	Audit audit.Recorder
	Now   func() time.Time
}

// Service is safe for concurrent use.
type Service struct{ Deps }

// NewService returns a service.
func NewService(d Deps) *Service { return &Service{d} }

// List returns the keys and rules of the caller's organization, in the order of the file, without
// what they could be compared with. Faults: RightMissing.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]Key, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadKeys); err != nil {
		return nil, err
	}
	o := s.InForce().Organizations[p.Org]
	if o == nil {
		return nil, errGone()
	}
	return keysOf(o), nil
}

func keysOf(o *keyring.Organization) (all []Key) {
	for _, k := range o.Keys {
		all = append(all, Key{StoredKey: withoutHash(k)})
	}
	for _, r := range o.Tokens {
		all = append(all, Key{keyring.StoredKey{ID: r.ID(), Name: r.Name, Grant: r.Grant, From: r.From}, true})
	}
	for _, r := range o.Certificates {
		all = append(all, Key{keyring.StoredKey{ID: r.ID(), Name: r.Name, Grant: r.Grant, From: r.From}, true})
	}
	return all
}

func withoutHash(k keyring.StoredKey) keyring.StoredKey {
	k.Hash = ""
	return k
}

// Make makes a key and returns it with its text, which is kept nowhere. Faults: RightMissing,
// KeyInvalid, KeyBeyond, KeysFull, KeysReadOnly, KeysNotTaken.
func (s *Service) Make(ctx context.Context, p auth.Principal, w Wanted) (made Key, text string, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageKeys); err != nil {
		return Key{}, "", err
	}
	if err := s.checkWanted(w); err != nil {
		return Key{}, "", err
	}
	text, hash, err := newKey(p.Org)
	if err != nil {
		return Key{}, "", err
	}
	var entry audit.Event
	k := keyring.StoredKey{Name: w.Name, Label: s.dated(w.Label), Hash: hash, Grant: w.Grant, From: w.From}
	err = s.edit(ctx, func(d *authfile.Document) error {
		o, bounds, err := s.boundsOf(d, p, auth.ManageKeys)
		if err != nil {
			return err
		}
		if err := bounds.check(k); err != nil {
			return err
		}
		if len(o.Keys) >= MaxKeys {
			return fault.New(fault.KeysFull, "the organization has %d keys; revoke one that nobody uses", len(o.Keys))
		}
		if made.StoredKey, err = d.AddNamedKey(p.Org, k); err != nil {
			return invalid(err)
		}
		entry, err = s.record(ctx, p, audit.KeyMake, made.StoredKey)
		return err
	})
	if err = s.refused(ctx, p, entry, err); err != nil {
		return Key{}, "", err
	}
	made.StoredKey = withoutHash(made.StoredKey)
	return made, text, nil
}

// Rotate puts a new key in the place of another one, which is good until a moment only. Faults: those
// of Make, and KeyNotFound.
func (s *Service) Rotate(ctx context.Context, p auth.Principal, id string,
	r Rotation) (made, old Key, text string, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageKeys); err != nil {
		return Key{}, Key{}, "", err
	}
	if err := s.checkRotation(r); err != nil {
		return Key{}, Key{}, "", err
	}
	text, hash, err := newKey(p.Org)
	if err != nil {
		return Key{}, Key{}, "", err
	}
	var entry audit.Event
	change := authfile.Rotation{Hash: hash, Label: s.dated(r.Label), Expires: r.Expires, Until: r.Until}
	err = s.edit(ctx, func(d *authfile.Document) error {
		found, err := s.within(d, p, id)
		if err != nil {
			return err
		}
		if err := s.checkRotated(d, p, found, r); err != nil {
			return err
		}
		if old.StoredKey, made.StoredKey, err = d.RotateKey(p.Org, found.ID, change); err != nil {
			return invalid(err)
		}
		entry, err = s.record(ctx, p, audit.KeyRotate, made.StoredKey)
		return err
	})
	if err = s.refused(ctx, p, entry, err); err != nil {
		return Key{}, Key{}, "", err
	}
	made.StoredKey, old.StoredKey = withoutHash(made.StoredKey), withoutHash(old.StoredKey)
	return made, old, text, nil
}

// checkRotated refuses a new key that nobody could use, or that goes on for longer than its maker's.
func (s *Service) checkRotated(d *authfile.Document, p auth.Principal, found keyring.StoredKey, r Rotation) error {
	if r.Expires.IsZero() {
		if expires := found.Expires; !expires.IsZero() && !expires.After(s.Now()) {
			return fault.New(fault.KeyInvalid, "the key has expired, and so would the new one have; say when that one expires")
		}
		return nil
	}
	_, bounds, err := s.boundsOf(d, p, auth.ManageKeys)
	if err != nil {
		return err
	}
	found.Expires = r.Expires
	return bounds.check(found)
}

// Revoke takes a key away, and returns how many the organization has left. Faults: RightMissing,
// KeyNotFound, KeyBeyond, KeyLast, KeysReadOnly, KeysNotTaken.
func (s *Service) Revoke(ctx context.Context, p auth.Principal, id string) (gone Key, left int, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageKeys); err != nil {
		return Key{}, 0, err
	}
	var entry audit.Event
	err = s.edit(ctx, func(d *authfile.Document) error {
		found, err := s.within(d, p, id)
		if err != nil {
			return err
		}
		if o, _ := d.Find(p.Org); len(o.Keys) == 1 {
			return fault.New(fault.KeyLast,
				"this is the organization's last key; make another one first, or take it away with `holdfast key revoke`")
		}
		gone.StoredKey = withoutHash(found)
		if left, err = d.RevokeKey(p.Org, found.ID); err != nil {
			return err
		}
		entry, err = s.record(ctx, p, audit.KeyRevoke, gone.StoredKey)
		return err
	})
	if err = s.refused(ctx, p, entry, err); err != nil {
		return Key{}, 0, err
	}
	return gone, left, nil
}

// within finds a key that the caller may have to do with.
func (s *Service) within(d *authfile.Document, p auth.Principal, id string) (keyring.StoredKey, error) {
	_, bounds, err := s.boundsOf(d, p, auth.ManageKeys)
	if err != nil {
		return keyring.StoredKey{}, err
	}
	if id == "" || strings.ContainsAny(id, "./\\") {
		return keyring.StoredKey{},
			fault.New(fault.KeyInvalid, "%.80q is neither the ID nor the name of a key; rules are changed in the file", id)
	}
	found, err := d.Key(p.Org, id)
	if err != nil {
		return keyring.StoredKey{}, fault.Wrap(err, fault.KeyNotFound, "the organization has no key %.80q", id)
	}
	return found, bounds.check(found)
}

// edit changes the file and has the server take it.
func (s *Service) edit(ctx context.Context, change func(*authfile.Document) error) error {
	ctx = context.WithoutCancel(ctx) // a caller who leaves must not leave a change that is not in force
	if err := s.Edit(ctx, change); err != nil {
		return explain(err)
	}
	if err := s.Take(ctx); err != nil {
		return fault.Wrap(err, fault.KeysNotTaken,
			"the auth file is changed, and the server has not taken it; its log says why")
	}
	return nil
}

// explain tells apart what the caller can do something about.
func explain(err error) error {
	switch {
	case errors.Is(err, authfile.ErrUncertain): // whatever else it says
		return fault.Wrap(err, fault.StoreUnavailable, "whether the change was made is not known; look, and try again")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EBUSY):
		return fault.Wrap(err, fault.KeysReadOnly,
			"this server can't write its auth file, so what is in it is changed elsewhere; nothing was changed")
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Busy, "others are editing the auth file; nothing was changed, try again")
	}
	return err
}

// record puts a change on record before the file is written: without the entry nothing is changed.
func (s *Service) record(ctx context.Context, p auth.Principal, action audit.Action,
	k keyring.StoredKey) (audit.Event, error) {
	note := k.ID
	if k.Name != "" {
		note += " " + k.Name
	}
	return s.note(ctx, p, action, note+": "+string(k.Role))
}

func (s *Service) note(ctx context.Context, p auth.Principal, action audit.Action, note string) (audit.Event, error) {
	e := audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: action, Note: note}
	if err := s.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return audit.Event{}, err
	}
	return e, nil
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// refused puts it on record, too, when a change that is on record was not made, or when the caller may not make it. A
// file that was changed has been, also where the server has not taken it.
func (s *Service) refused(ctx context.Context, p auth.Principal, e audit.Event, err error) error {
	switch {
	case fault.Is(err, fault.KeyBeyond):
		e = audit.Refusal(p, auth.ManageKeys, "", fault.KeyBeyond, s.clock())
	case err == nil, e.Action == "", fault.Is(err, fault.KeysNotTaken):
		return err
	default:
		e.Refused = fault.From(err).Code
	}
	return errors.Join(err, s.Audit.Record(context.WithoutCancel(ctx), e))
}

func newKey(org uuid.UUID) (text, hash string, err error) {
	text = auth.NewKey(org)
	hash, err = authfile.HashKey(text)
	return text, hash, err
}

// dated is a key's comment in the auth file, as `holdfast key add` writes it.
func (s *Service) dated(label string) string {
	date := s.Now().UTC().Format(time.DateOnly)
	if label == "" {
		return date
	}
	return date + " " + label
}

func errGone() error {
	return fault.New(fault.CredentialsRevoked,
		"what you have come in with is not in the auth file any more; nothing was changed")
}
