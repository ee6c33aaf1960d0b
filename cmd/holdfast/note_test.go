package main

import (
	"io"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// What stands below a table is no wider than the terminal, and names in it are whole; where there is
// no terminal, each note is a line.
func TestNotesFitTheTerminal(t *testing.T) {
	name, address := "team-payments/europe-west-4/network", `module.cluster["europe-west-4"].aws_iam_policy.deploy`
	notes := map[string]func(a *app) error{
		"resources": func(a *app) error {
			a.tell(api.Extent{Limited: true, Unread: []api.UnreadState{{State: name, Code: "state_encrypted"}}})
			return nil
		},
		"versions": func(a *app) error {
			a.tellUnread([]api.UnreadVersion{{Version: 1042, Code: "state_encrypted"}})
			return nil
		},
		"no version": func(a *app) error {
			a.note("No version of %s that can be read has %s.", name, address)
			return nil
		},
		"import": func(a *app) error {
			return a.showBrought([]brought{{Name: name,
				Error: "body_too_large: the state is larger than the server takes: raise state.max_bytes there"}}, broughtFlags{})
		},
		"control characters": func(a *app) error {
			a.note("State %s is not in the answer: %s.", name+"\x1b[2J", "it is encrypted, and its key isn't here")
			return nil
		},
	}
	for what, note := range notes {
		t.Run(what, func(t *testing.T) {
			s := goldenShell(t)
			var on, off strings.Builder
			if err := note(s.app(io.Discard, &on)); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(on.String()) {
				if n := shownWidth(strings.TrimSuffix(line, "\n")); n > goldenColumns || strings.Contains(line, "\x1b") {
					t.Errorf("%d columns: %q", n, line)
				}
			}
			s.columns = 0
			if err := note(s.app(io.Discard, &off)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(off.String(), "\n ") {
				t.Errorf("without a terminal:\n%s", off.String())
			}
			if a, b := strings.Fields(on.String()), strings.Fields(off.String()); strings.Join(a, " ") != strings.Join(b, " ") {
				t.Errorf("the terminal shows %q, others %q", a, b)
			}
		})
	}
}
