package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/holdfast/holdfast/agent"
)

// An agent that is root has commands run as the account that packages make, where there is one, else as a number that no
// account has: the same one each time, and another one for another agent.
func TestUsualUserOfCommands(t *testing.T) {
	root := filepath.Join(string(filepath.Separator), "no such folder")
	accounts := map[string]*agent.User{}
	find := func(name string) (*agent.User, error) {
		if found := accounts[name]; found != nil {
			return found, nil
		}
		return nil, errors.New("there is none")
	}
	usual := func(work string) *agent.User {
		t.Helper()
		found, err := usualUser(work, find)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := usual(filepath.Join(root, "a"))
	if first == nil || first.UID < 61184 || first.UID > 65519 || first.GID != first.UID {
		t.Fatalf("it is %+v", first)
	}
	if again, other := usual(filepath.Join(root, "a")), usual(filepath.Join(root, "b")); *again != *first || *other == *first {
		t.Errorf("again it is %+v, and for another folder %+v", again, other)
	}
	accounts[strconv.Itoa(first.UID)] = first
	if next := usual(filepath.Join(root, "a")); next == nil || next.UID == first.UID {
		t.Errorf("where somebody has the number it is %+v", next)
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if found := usual(filepath.Join(closed, "work")); found != nil {
		t.Errorf("nobody else gets there, and it is %+v", found)
	}
	accounts["holdfast-run"] = &agent.User{UID: 990, GID: 991}
	if packaged := usual(filepath.Join(closed, "work")); *packaged != (agent.User{UID: 990, GID: 991}) {
		t.Errorf("with the packages' account it is %+v", packaged)
	}
}
