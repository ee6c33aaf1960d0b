package auth

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"
	"pgregory.net/rapid"
)

func TestNewKeyCarriesItsOrganization(t *testing.T) {
	form := regexp.MustCompile(`^hfk_[0-9A-Za-z]{22}_[0-9A-Za-z]{43}$`)
	seen := make(map[string]bool)
	for range 1000 {
		org := uuid.New()
		key := NewKey(org)
		if !form.MatchString(key) {
			t.Fatalf("%q doesn't have the form of a key", key)
		}
		if got, ok := OrgOfKey(key); !ok || got != org {
			t.Fatalf("OrgOfKey says %s, %v; want %s", got, ok, org)
		}
		if seen[key] {
			t.Fatal("the same key twice")
		}
		seen[key] = true
	}
}

func TestHashKeyIsAcceptedInAuthFiles(t *testing.T) {
	key := NewKey(orgA)
	hash, err := HashKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if cost, problem := readHash(hash); cost != 10 || problem != "" {
		t.Errorf("cost %d, problem %q", cost, problem)
	}
	if err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(key)); err != nil {
		t.Error(err)
	}
	if _, problem := readHash(decoyHash); problem != "" {
		t.Errorf("the decoy: %s", problem)
	}
}

func TestOrgOfKeyRefuses(t *testing.T) {
	good := NewKey(orgA)
	for name, key := range map[string]string{
		"empty":          "",
		"short":          good[:69],
		"long":           good + "x",
		"other prefix":   "xfk_" + good[4:],
		"no separator":   good[:26] + "x" + good[27:],
		"early break":    good[:20] + "_" + good[21:26] + "x" + good[27:],
		"bad org digit":  good[:10] + "-" + good[11:],
		"bad secret":     good[:40] + "-" + good[41:],
		"org too large":  "hfk_" + strings.Repeat("z", 22) + good[26:],
		"org of zeros":   "hfk_" + strings.Repeat("0", 22) + good[26:],
		"not of ASCII":   good[:68] + "é",
		"second divider": good[:50] + "_" + good[51:],
	} {
		if id, ok := OrgOfKey(key); ok || id != uuid.Nil {
			t.Errorf("%s: OrgOfKey says %s, %v", name, id, ok)
		}
	}
}

func TestBase62RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes")
		text := toBase62(in, secretDigits)
		out := make([]byte, 32)
		if len(text) != secretDigits || !fromBase62(text, out) || !bytes.Equal(in, out) {
			t.Fatalf("%x became %q and then %x", in, text, out)
		}
	})
}
