package authfile

import (
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth"
)

func TestHashKeyIsAcceptedInAuthFiles(t *testing.T) {
	key := auth.NewKey(orgA)
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
}
