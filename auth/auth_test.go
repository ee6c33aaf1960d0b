package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

var (
	orgA = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	orgB = uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
)

// fakeHash returns a text that has the form of a bcrypt hash and is nobody's.
func fakeHash(n int) string {
	return "$2a$10$" + strings.Repeat("x", 43) + fmt.Sprintf("%010d", n)
}

func mustParse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("auth.cfg", text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
