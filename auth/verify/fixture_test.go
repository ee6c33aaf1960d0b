package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
)

var (
	orgA = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	orgB = uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
)

// fakeHash returns a text that has the form of a bcrypt hash and is nobody's.
func fakeHash(n int) string {
	return "$2a$10$" + strings.Repeat("x", 43) + fmt.Sprintf("%010d", n)
}

// parse returns the keyring of an auth.cfg.
func parse(t *testing.T, text string) *keyring.Keyring {
	t.Helper()
	doc, err := authfile.Parse("auth.cfg", text)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Keyring()
}

// What is compared where there is nothing to compare with must take as long.
func TestDecoyIsAsGoodAsANewKeysHash(t *testing.T) {
	ring := parse(t, "["+orgA.String()+"]\n"+decoyHash)
	if cost := ring.Organizations[orgA].Keys[0].Cost; cost != 10 {
		t.Errorf("cost %d", cost)
	}
}
