package auth

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

var orgA = uuid.MustParse("11111111-2222-3333-4444-555555555555")

// goodToken has the form of a token.
var goodToken = "eyJhbGciOiJFUzI1NiJ9." + strings.Repeat("x", 60) + ".c2ln"

func TestIsToken(t *testing.T) {
	for text, want := range map[string]bool{
		goodToken:                             true,
		strings.TrimSuffix(goodToken, "c2ln"): true, // unsigned, and refused as what it is
		NewKey(orgA):                          false,
		"":                                    false,
		"eyJ.b.c":                             false, // an operator may have made such a key
		goodToken + ".x":                      false,
		goodToken + "=":                       false,
		goodToken + " ":                       false,
		"x" + goodToken:                       false,
		strings.Repeat("x", 100):              false,
		goodToken[:40]:                        false,
	} {
		if got := IsToken(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
