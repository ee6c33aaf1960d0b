package server

import (
	"os"
	"testing"
)

// TestIsOwnUser lets the server's own user and root in, and nobody else.
func TestIsOwnUser(t *testing.T) {
	own := uint32(os.Geteuid())
	if !isOwnUser(own) || !isOwnUser(0) || isOwnUser(own+12345) {
		t.Error("another user is let in, or the own one or root is not")
	}
}
