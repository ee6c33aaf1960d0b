package keys_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/fault"
)

var acme = uuid.MustParse("11111111-2222-3333-4444-555555555555")

type journal struct {
	mu     sync.Mutex
	events []audit.Event
	err    error
}

func (j *journal) Record(_ context.Context, e audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.events = append(j.events, e)
	}
	return j.err
}

// rig has an auth file on disk, and what a server has taken of it.
type rig struct {
	*keys.Service
	t     *testing.T
	path  string
	taken *keyring.Keyring
	log   *journal
}

func newRig(t *testing.T, sections string) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "auth.cfg"), log: &journal{}}
	text := fmt.Sprintf("# ours\n[%s]\nname = Acme\napikey = %s ; 2026-01-01 root\n%s", acme, newHash(),
		strings.ReplaceAll(sections, "ORG", acme.String()))
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Service = keys.NewService(keys.Deps{
		Edit: func(ctx context.Context, change func(*authfile.Document) error) error {
			return authfile.Edit(ctx, r.path, change)
		},
		Take:    func(context.Context) error { return r.take() },
		InForce: func() *keyring.Keyring { return r.taken },
		Said:    r.settings,
		Gate:    audit.NewGate(r.log, now), Audit: r.log, Now: now,
	})
	if err := r.take(); err != nil {
		t.Fatal(err)
	}
	return r
}

func now() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

var hashes atomic.Int64

// newHash is of no key that anybody has, and needs no bcrypt.
func newHash() string { return fmt.Sprintf("$2a$10$%053d", hashes.Add(1)) }

func (r *rig) settings(org uuid.UUID) (authfile.Settings, bool) {
	r.t.Helper()
	doc, err := authfile.Load(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	o, ok := doc.Find(org)
	return o.Settings(), ok
}

func (r *rig) take() error {
	doc, err := authfile.Load(r.path)
	if err == nil {
		r.taken = doc.Keyring()
	}
	return err
}

// as is a caller with the key or rule of this name; empty for the organization's own key.
func (r *rig) as(name string) auth.Principal {
	r.t.Helper()
	o := r.taken.Organizations[acme]
	for _, k := range o.Keys {
		if k.Name == name {
			return auth.Principal{Org: acme, KeyID: k.ID, Grant: k.Grant}
		}
	}
	for _, rule := range o.Tokens {
		if rule.Name == name {
			p := auth.Principal{Org: acme, KeyID: rule.ID(), Subject: "ana", Grant: rule.Grant}
			p.Expires = now().Add(time.Minute)
			return p
		}
	}
	r.t.Fatalf("there is no %q", name)
	return auth.Principal{}
}

func (r *rig) text() string {
	r.t.Helper()
	text, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func patterns(t *testing.T, text string) *auth.Patterns {
	t.Helper()
	if text == "" {
		return nil
	}
	p, err := auth.ParsePatterns(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMakeRotateRevoke(t *testing.T) {
	r := newRig(t, "")
	owner, ctx := r.as(""), t.Context()
	made, text, err := r.Make(ctx, owner,
		keys.Wanted{Name: "ci", Label: "pipelines", Grant: auth.Grant{Role: auth.Writer, States: patterns(t, "prod/*")}})
	if err != nil || made.Hash != "" || made.Name != "ci" {
		t.Fatalf("%+v, %v", made, err)
	}
	if org, ok := auth.OrgOfKey(text); !ok || org != acme || strings.Contains(r.text(), text) {
		t.Errorf("the key's text: %t", ok)
	}
	if k := r.as("ci"); k.Role != auth.Writer { // it is in force when Make returns
		t.Errorf("%+v", k)
	}
	renewed, old, second, err := r.Rotate(ctx, owner, "ci", keys.Rotation{Until: now().Add(time.Hour)})
	if err != nil || renewed.Name != "ci" || renewed.ID == made.ID || old.ID != made.ID ||
		!old.Expires.Equal(now().Add(time.Hour)) || second == text {
		t.Fatalf("%+v %+v %v", renewed, old, err)
	}
	gone, left, err := r.Revoke(ctx, owner, renewed.ID)
	if err != nil || gone.ID != renewed.ID || left != 2 || gone.Hash != "" {
		t.Fatalf("%+v %d %v", gone, left, err)
	}
	all, err := r.List(ctx, owner)
	if err != nil || len(all) != 2 || all[0].Hash != "" || all[1].Hash != "" {
		t.Errorf("%+v, %v", all, err)
	}
	if !strings.HasPrefix(r.text(), "# ours\n") {
		t.Error("a comment is gone")
	}
	var actions []audit.Action
	for _, e := range r.log.events {
		actions = append(actions, e.Action)
		if strings.Contains(e.Note, text) || e.Actor.KeyID != owner.KeyID {
			t.Errorf("%+v", e)
		}
	}
	if got := fmt.Sprint(actions); got != "[key.make key.rotate key.revoke]" {
		t.Error(got)
	}
	if _, _, err := r.Revoke(ctx, owner, old.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Revoke(ctx, owner, owner.KeyID); !fault.Is(err, fault.KeyLast) {
		t.Errorf("the last key: %v", err)
	}
}

// Nobody makes a key that may do more than they, nor gets at one.
func TestBounds(t *testing.T) {
	r := newRig(t, `
[ORG.near]
apikey = `+newHash()+`
role = owner
states = prod/**, shared/network
expires = 2027-01-31
from = 10.0.0.0/8, 2001:db8::/32

[ORG.oidc.people]
issuer = https://issuer.example.com
audience = x
claims.sub = *
role = owner
states = dev/*
`)
	until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	from := func(texts ...string) (all []netip.Prefix) {
		all, err := keys.ReadNetworks(texts)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, test := range []struct {
		as, states string
		expires    time.Time
		from       []netip.Prefix
		role       auth.Role
		may        bool
	}{
		{"", "", time.Time{}, nil, auth.Owner, true},
		{"near", "prod/x", until, from("10.1.0.0/16"), auth.Owner, true},
		{"near", "prod/*, shared/network", until, from("10.0.0.0/8", "2001:db8::1"), auth.Reader, true},
		{"near", "prod/a/**", until, from("10.1.2.3"), auth.Writer, true},
		{"near", "", until, from("10.1.2.3"), auth.Uploader, true}, // which has nothing to do with states
		{"near", "", until, from("10.1.2.3"), auth.Reader, false},
		{"near", "prod/x, dev/x", until, from("10.1.2.3"), auth.Reader, false},
		{"near", "shared/*", until, from("10.1.2.3"), auth.Reader, false},
		{"near", "**", until, from("10.1.2.3"), auth.Reader, false},
		{"near", "prod/x", time.Time{}, from("10.1.2.3"), auth.Reader, false},
		{"near", "prod/x", until.AddDate(1, 0, 0), from("10.1.2.3"), auth.Reader, false},
		{"near", "prod/x", until, nil, auth.Reader, false},
		{"near", "prod/x", until, from("10.1.2.3", "192.0.2.1"), auth.Reader, false},
		{"near", "prod/x", until, from("0.0.0.0/0"), auth.Reader, false},
		{"near", "prod/x", until, from("::/0"), auth.Reader, false},
		{"people", "dev/x", now().Add(time.Minute), nil, auth.Writer, true}, // as long as the token
		{"people", "dev/x", now().Add(time.Hour), nil, auth.Writer, false},
		{"people", "dev/x", time.Time{}, nil, auth.Writer, false},
		{"people", "prod/x", time.Time{}, nil, auth.Writer, false},
	} {
		_, _, err := r.Make(t.Context(), r.as(test.as),
			keys.Wanted{Grant: auth.Grant{Role: test.role, States: patterns(t, test.states), Expires: test.expires},
				From: test.from})
		if test.may != (err == nil) || err != nil && !fault.Is(err, fault.KeyBeyond) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	root := r.as("").KeyID
	if _, _, err := r.Revoke(t.Context(), r.as("near"), root); !fault.Is(err, fault.KeyBeyond) {
		t.Errorf("revokes a key that may do more: %v", err)
	}
	if _, _, _, err := r.Rotate(t.Context(), r.as("near"), root, keys.Rotation{Until: until}); !fault.Is(err,
		fault.KeyBeyond) {
		t.Errorf("rotates a key that may do more: %v", err)
	}
	people := r.as("people")
	people.BySession = true
	if _, _, err := r.Make(t.Context(), people,
		keys.Wanted{Grant: auth.Grant{Role: auth.Writer, States: patterns(t, "dev/x")}}); err != nil {
		t.Errorf("somebody who has signed in to the page: %v", err)
	}
	if _, _, _, err := r.Rotate(t.Context(), r.as("near"), "near",
		keys.Rotation{Until: until, Expires: until.AddDate(2, 0, 0)}); !fault.Is(err, fault.KeyBeyond) {
		t.Errorf("goes on for longer by rotation: %v", err)
	}
}

// A key that differs from the caller's in its end or its addresses only is out of reach, too: its
// rotation would show the caller a key that is good for longer, or from anywhere.
func TestKeysThatAreGoodForMore(t *testing.T) {
	short := newHash()
	for name, test := range map[string]struct{ own, other string }{
		"no end":              {"expires = 2027-01-31", ""},
		"a later end":         {"expires = 2027-01-31", "expires = 2027-02-01"},
		"from anywhere":       {"from = 10.0.0.0/8", ""},
		"from more addresses": {"from = 10.0.0.0/8", "from = 10.0.0.0/8, 192.0.2.1"},
	} {
		r := newRig(t, "[ORG.own]\napikey = "+short+"\nrole = owner\n"+test.own+
			"\n[ORG.other]\napikey = "+newHash()+"\nrole = owner\n"+test.other+"\n")
		before := r.text()
		if _, _, text, err := r.Rotate(t.Context(), r.as("own"), "other",
			keys.Rotation{Until: now().Add(time.Hour)}); !fault.Is(err, fault.KeyBeyond) || text != "" {
			t.Errorf("%s: is rotated: %v", name, err)
		}
		if _, _, err := r.Revoke(t.Context(), r.as("own"), "other"); !fault.Is(err, fault.KeyBeyond) {
			t.Errorf("%s: is revoked: %v", name, err)
		}
		if r.text() != before {
			t.Errorf("%s: the file has changed", name)
		}
		if _, _, _, err := r.Rotate(t.Context(), r.as("own"), "own",
			keys.Rotation{Until: now().Add(time.Hour)}); err != nil {
			t.Errorf("%s: one's own: %v", name, err)
		}
	}
}

// A change that is in the file is on record, also where the server has not taken it.
func TestChangeThatIsNotTakenIsOnRecord(t *testing.T) {
	for name, change := range map[string]func(r *rig) error{
		"make": func(r *rig) error {
			_, _, err := r.Make(t.Context(), r.as(""), keys.Wanted{Grant: auth.Grant{Role: auth.Reader}})
			return err
		},
		"rotate": func(r *rig) error {
			_, _, _, err := r.Rotate(t.Context(), r.as(""), "ci", keys.Rotation{Until: now().Add(time.Hour)})
			return err
		},
		"revoke": func(r *rig) error {
			_, _, err := r.Revoke(t.Context(), r.as(""), "ci")
			return err
		},
	} {
		r := newRig(t, "[ORG.ci]\napikey = "+newHash()+"\nrole = writer\n")
		r.Service.Deps.Take = func(context.Context) error { return errors.New("refused") }
		if err := change(r); !fault.Is(err, fault.KeysNotTaken) {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.log.events) != 1 {
			t.Errorf("%s: %d events", name, len(r.log.events))
		}
	}
}

// Who lacks the right changes nothing, and is on record; so does who was taken out of the file since
// they came in.
func TestWhoMayNot(t *testing.T) {
	r := newRig(t, "[ORG.w]\napikey = "+newHash()+"\nrole = writer\n[ORG.late]\napikey = "+
		newHash()+"\nrole = owner\n")
	writer, late, before := r.as("w"), r.as("late"), r.text()
	_, err := r.List(t.Context(), writer)
	_, _, makes := r.Make(t.Context(), writer, keys.Wanted{Grant: auth.Grant{Role: auth.Reader}})
	_, _, _, rotates := r.Rotate(t.Context(), writer, "w", keys.Rotation{Until: now().Add(time.Hour)})
	_, _, revokes := r.Revoke(t.Context(), writer, "w")
	for _, err := range []error{err, makes, rotates, revokes} {
		if !fault.Is(err, fault.RightMissing) {
			t.Error(err)
		}
	}
	if r.text() != before || len(r.log.events) != 4 {
		t.Errorf("%d events, file changed: %t", len(r.log.events), r.text() != before)
	}
	if _, _, err := r.Revoke(t.Context(), r.as(""), "late"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Make(t.Context(), late, keys.Wanted{Grant: auth.Grant{Role: auth.Reader}}); !fault.Is(err,
		fault.CredentialsRevoked) {
		t.Errorf("a key that was revoked makes one: %v", err)
	}
}

func TestKeysThatCantBe(t *testing.T) {
	r := newRig(t, "")
	before := r.text()
	for name, w := range map[string]keys.Wanted{
		"no role":            {},
		"an unknown role":    {Grant: auth.Grant{Role: "king"}},
		"a name of a kind":   {Name: "oidc", Grant: auth.Grant{Role: auth.Reader}},
		"a name with a line": {Name: "a]\n[b", Grant: auth.Grant{Role: auth.Reader}},
		"a label with one":   {Label: "x\n[" + uuid.NewString() + "]", Grant: auth.Grant{Role: auth.Reader}},
		"an end in the past": {Grant: auth.Grant{Role: auth.Reader, Expires: now()}},
		"states for nothing": {Grant: auth.Grant{Role: auth.Uploader, States: patterns(t, "x")}},
	} {
		if _, text, err := r.Make(t.Context(), r.as(""), w); !fault.Is(err, fault.KeyInvalid) || text != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"nobody", "oidc.people", "..", ""} {
		if _, _, err := r.Revoke(t.Context(), r.as(""), id); !fault.Is(err, fault.KeyNotFound) &&
			!fault.Is(err, fault.KeyInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if r.text() != before {
		t.Error("the file has changed")
	}
}

func TestFileThatCantBeWritten(t *testing.T) {
	for _, cause := range []error{fs.ErrPermission, &fs.PathError{Op: "open", Err: syscall.EROFS},
		&os.LinkError{Op: "rename", Err: syscall.EBUSY}} {
		r := newRig(t, "")
		r.Service.Deps.Edit = func(context.Context,
			func(*authfile.Document) error) error {
			return fmt.Errorf("wrapped: %w", cause)
		}
		if _, text, err := r.Make(t.Context(), r.as(""), keys.Wanted{Grant: auth.Grant{Role: auth.Reader}}); !fault.Is(err,
			fault.KeysReadOnly) || text != "" {
			t.Errorf("%v: %v", cause, err)
		}
		if _, err := r.Configure(t.Context(), r.as(""), "", guards("off")); !fault.Is(err, fault.KeysReadOnly) {
			t.Errorf("%v", err)
		}
	}
	r := newRig(t, "")
	r.Service.Deps.Take = func(context.Context) error { return errors.New("refused") }
	if _, text, err := r.Make(t.Context(), r.as(""), keys.Wanted{Grant: auth.Grant{Role: auth.Reader}}); !fault.Is(err,
		fault.KeysNotTaken) || text != "" {
		t.Errorf("not taken: %v", err)
	}
	r = newRig(t, "")
	r.log.err = fault.New(fault.StoreFull, "full")
	if _, text, err := r.Make(t.Context(), r.as(""), keys.Wanted{Grant: auth.Grant{Role: auth.Reader}}); !fault.Is(err,
		fault.StoreFull) || text != "" {
		t.Errorf("not on record: %v", err)
	}
}

// Of those who make keys at once none loses one, and the bound holds.
func TestKeysMadeAtOnce(t *testing.T) {
	r := newRig(t, "")
	var mu sync.Mutex
	r.Service.Deps.Take = func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		return nil
	}
	owner := r.as("")
	var wait sync.WaitGroup
	failed := make([]error, 6)
	for i := range failed {
		wait.Go(func() {
			_, _, failed[i] = r.Make(t.Context(), owner, keys.Wanted{Grant: auth.Grant{Role: auth.Reader}})
		})
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	if err := r.take(); err != nil || len(r.taken.Organizations[acme].Keys) != 7 {
		t.Errorf("%d keys, %v", len(r.taken.Organizations[acme].Keys), err)
	}
}

func TestKeysAreBounded(t *testing.T) {
	r := newRig(t, "")
	var more strings.Builder
	for range keys.MaxKeys - 1 {
		fmt.Fprintf(&more, "apikey = %s\n", newHash())
	}
	text := strings.Replace(r.text(), "name = Acme\n", "name = Acme\n"+more.String(), 1)
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Make(t.Context(), r.as(""), keys.Wanted{Grant: auth.Grant{Role: auth.Reader}}); !fault.Is(err,
		fault.KeysFull) {
		t.Error(err)
	}
}
