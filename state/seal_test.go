package state

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// A seal tells nothing, is another one each time, and is good for its organization and its
// service only.
func TestSeals(t *testing.T) {
	s, org := newSeals(), uuid.New()
	one, again := s.seal(org, "team/secret"), s.seal(org, "team/secret")
	if one == again || strings.Contains(string(one), "secret") {
		t.Errorf("%q, and again %q", one, again)
	}
	if name, err := s.open(org, one); name != "team/secret" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	for _, plain := range []Name{"", "team/secret", "~", "é"} {
		if name, err := s.open(org, plain); name != plain || err != nil {
			t.Errorf("%q: %q, %v", plain, name, err)
		}
	}
	if _, err := ParseName(sealMark + "a"); err == nil {
		t.Error("a name may begin like a seal")
	}
	for what, open := range map[string]func() (Name, error){
		"another organization": func() (Name, error) { return s.open(uuid.New(), one) },
		"another service":      func() (Name, error) { return newSeals().open(org, one) },
		"a changed one":        func() (Name, error) { return s.open(org, one[:len(one)-2]+"AA") },
		"a short one":          func() (Name, error) { return s.open(org, "!AAAA") },
		"no seal at all":       func() (Name, error) { return s.open(org, "!*") },
	} {
		if _, err := open(); !fault.Is(err, fault.CursorInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
