package main

import (
	"os/user"
	"testing"
)

// An agent that is root has commands run as the account that packages make, where there is one.
func TestUsualAccountOfCommands(t *testing.T) {
	there := func(name string) (*user.User, error) { return &user.User{Username: name, Uid: "990", Gid: "990"}, nil }
	missing := func(name string) (*user.User, error) { return nil, user.UnknownUserError(name) }
	for _, one := range []struct {
		euid   int
		lookup func(string) (*user.User, error)
		want   string
	}{{0, there, "holdfast-run"}, {0, missing, ""}, {1000, there, ""}} {
		if got := usualAccount(one.euid, one.lookup); got != one.want {
			t.Errorf("%d: %q, want %q", one.euid, got, one.want)
		}
	}
}
