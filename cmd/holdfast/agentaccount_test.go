package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent"
)

// An agent that is root has commands run as the account that packages make, where there is one, else as a number that
// no account has: the same one each time, and another one for another agent.
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
	again, other := usual(filepath.Join(root, "a")), usual(filepath.Join(root, "b"))
	if *again != *first || *other == *first {
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

// Commands with a user of their own, and without namespaces, find the tools and the work folder, or the agent doesn't
// start.
func TestFoldersThatCommandsCanNotGetTo(t *testing.T) {
	top := t.TempDir()
	for _, folder := range []string{top, filepath.Dir(top)} { // as /srv, whatever the machine's own is like
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	closed, work := filepath.Join(top, "closed"), filepath.Join(top, "work")
	for _, folder := range []string{closed, work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if above := closedFolder(filepath.Dir(filepath.Dir(top))); above != "" {
		t.Skipf("others can't get through %s", above)
	}
	for _, c := range []struct {
		work, tools, level string
		owner              *agent.User
		want               string
	}{
		{work, filepath.Join(work, "tools"), "landlock", &agent.User{UID: 61184}, ""},
		{work, filepath.Join(closed, "tools"), "landlock", &agent.User{UID: 61184}, closed + " to --tools"},
		{work, closed, "landlock", &agent.User{UID: 61184}, closed + " to --tools"},
		{filepath.Join(closed, "w"), top, "landlock", &agent.User{UID: 61184}, closed + " to --work"},
		{work, closed, "namespaces", &agent.User{UID: 61184}, ""},
		{work, closed, "landlock", nil, ""},
	} {
		err := hidden(agentFlags{work: c.work, tools: c.tools}, c.level, c.owner)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
