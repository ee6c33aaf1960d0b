package verify

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// limited is a keyring with one key, k1 of orgA, that is good for less.
func limited(expires time.Time, from ...string) *keyring.Keyring {
	k := keyring.StoredKey{ID: "1", Hash: fakeHash(1), Grant: auth.Grant{Role: auth.Owner, Expires: expires}}
	for _, network := range from {
		k.From = append(k.From, netip.MustParsePrefix(network))
	}
	return keyring.New(&keyring.Organization{ID: orgA, Keys: []keyring.StoredKey{k}})
}

func TestKeyExpiresToTheSecond(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(limited(time.Unix(100, 0)))
	for _, s := range []struct {
		at   int64
		want string
	}{{0, in}, {99, in}, {100, "key_expired"}, {101, "key_expired"}} {
		b.now.Store(s.at)
		if got := b.from("192.0.2.1", orgA, "k1"); got != s.want {
			t.Errorf("after %d s: %s, want %s", s.at, got, s.want)
		}
	}
	if n := b.compared.Load(); n != 1 {
		t.Errorf("%d comparisons; it was to expire while it was remembered", n)
	}
	got, err := b.try(orgA, "k1")
	if got != (auth.Principal{}) || !strings.Contains(fault.From(err).Message, "1970-01-01T00:01:40Z") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestKeyIsBoundToAddresses(t *testing.T) {
	for _, c := range []struct {
		address string
		want    string
	}{
		{"10.1.2.3", in},
		{"::ffff:10.1.2.3", in},
		{"2001:db8::1", in},
		{"2001:db8::1%eth0", in},
		{"11.1.2.3", "address_refused"},
		{"::ffff:11.1.2.3", "address_refused"},
		{"2001:db9::1", "address_refused"},
		{"::10.1.2.3", "address_refused"},
		{"", "address_refused"},
		{"a name", "address_refused"},
		{"10.1.2.3:80", "address_refused"},
		{"010.1.2.3", "address_refused"},
	} {
		b := newBench(t, Config{})
		b.Use(limited(time.Time{}, "10.0.0.0/8", "2001:db8::/32"))
		for range 2 { // cold, and remembered
			if got := b.from(c.address, orgA, "k1"); got != c.want {
				t.Errorf("%q: %s, want %s", c.address, got, c.want)
			}
		}
		// Where it was remembered it is still refused elsewhere.
		if got := b.from("192.0.2.1", orgA, "k1"); got != "address_refused" {
			t.Errorf("%q, then 192.0.2.1: %s", c.address, got)
		}
	}
}

// Only who has the key learns that it is no longer good, and it was no guess.
func TestUnusableKeyIsNoGuess(t *testing.T) {
	b := newBench(t, Config{Remember: time.Second})
	b.Use(limited(time.Unix(1, 0), "10.0.0.0/8"))
	for at := range int64(50) {
		b.now.Store(at)
		want := "key_expired"
		if at == 0 {
			want = "address_refused"
		}
		if got := b.from("192.0.2.1", orgA, "k1"); got != want {
			t.Errorf("after %d s: %s, want %s", at, got, want)
		}
	}
	if got := b.from("192.0.2.1", orgA, "k2"); got != wrongly {
		t.Errorf("a wrong key: %s", got)
	}
	if got := b.from("192.0.2.1", uuid.New(), "k1"); got != wrongly {
		t.Errorf("another organization: %s", got)
	}
	b.now.Store(50)
	if looked := b.guess("192.0.2.1", orgA, 50); looked != 8 {
		t.Errorf("%d guesses were left, want 8", looked)
	}
}
