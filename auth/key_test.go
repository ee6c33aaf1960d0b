package auth

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
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

// All 256 bits of a secret must be random: each takes both values, and none is a copy of
// another or its opposite.
func TestSecretsAreRandomThroughout(t *testing.T) {
	const keys = 200
	columns := make([]strings.Builder, 256) // what each bit was, in key after key
	digits := make([]map[byte]bool, secretDigits)
	for range keys {
		digit := NewKey(orgA)[keyLength-secretDigits:]
		var secret [32]byte
		if !fromBase62(digit, secret[:]) {
			t.Fatal("not a secret of 32 bytes")
		}
		for i := range columns {
			columns[i].WriteByte('0' + secret[i/8]>>(i%8)&1)
		}
		for i := range digits {
			if digits[i] == nil {
				digits[i] = make(map[byte]bool)
			}
			digits[i][digit[i]] = true
		}
	}
	seen := make(map[string]int)
	opposite := strings.NewReplacer("0", "1", "1", "0")
	for i := range columns {
		bit := columns[i].String()
		if !strings.Contains(bit, "0") || !strings.Contains(bit, "1") {
			t.Errorf("bit %d is always %c", i, bit[0])
		}
		for _, same := range []string{bit, opposite.Replace(bit)} {
			if other, ok := seen[same]; ok && other != i {
				t.Errorf("bit %d follows from bit %d", i, other)
			}
			seen[same] = i
		}
	}
	for i := range digits {
		if len(digits[i]) < 40 { // of 62, and 60 in the first place
			t.Errorf("character %d takes %d values only", i, len(digits[i]))
		}
	}
}
