package workspace_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

// Who lets the runs of a workspace read the outputs of other states has to be able to read all of them.
func TestReadsAreOfWhatTheCallerReads(t *testing.T) {
	w := made(t, workspace.Limits{})
	set := func(p auth.Principal, reads ...string) error {
		_, err := w.Configure(w.ctx, p, "a", func(s *workspace.Settings) { s.Reads = reads })
		return err
	}
	narrow := w.narrow("a, b/**, c")
	operator := auth.Principal{Org: w.owner.Org, KeyID: "operator", Grant: auth.Grant{Role: auth.Operator}}
	hidden, err := auth.ParsePatterns("b/hidden")
	if err != nil {
		t.Fatal(err)
	}
	shown := w.owner
	shown.Exposure = (*auth.Exposure)(nil).With(hidden, auth.AccessInternal)
	for _, c := range []struct {
		name  string
		by    auth.Principal
		reads []string
		code  fault.Code
	}{
		{"what the key reads", narrow, []string{"b/x", "b/*", "c"}, ""},
		{"another state", narrow, []string{"d"}, fault.RightMissing},
		{"one more than that", narrow, []string{"c", "d"}, fault.RightMissing},
		{"a wider pattern", narrow, []string{"*"}, fault.RightMissing},
		{"all of a folder", narrow, []string{"b/**"}, ""},
		{"everything", narrow, []string{"**"}, fault.RightMissing},
		{"without the right to outputs", operator, []string{"c"}, fault.RightMissing},
		{"a state for its own runs alone", shown, []string{"b/hidden"}, fault.StateInternal},
		{"no pattern", w.owner, []string{"a//b"}, fault.WorkspaceInvalid},
		{"two in one", w.owner, []string{"a, b"}, fault.WorkspaceInvalid},
		{"too many", w.owner, make([]string, 51), fault.WorkspaceInvalid},
	} {
		wantCode(t, "none", set(w.owner), "")
		before := len(w.events.all)
		wantCode(t, c.name, set(c.by, c.reads...), c.code)
		last, denied := w.events.all[len(w.events.all)-1], c.code != "" && c.code != fault.WorkspaceInvalid
		if denied && (len(w.events.all) == before || last.Action != audit.AccessRefused) {
			t.Errorf("%s: the refusal is not on record", c.name)
		}
		if now, err := w.Get(w.ctx, w.owner, "a"); err != nil || (len(now.Settings.Reads) > 0) != (c.code == "") {
			t.Errorf("%s: runs read %v, %v", c.name, now.Settings.Reads, err)
		}
	}

	// What somebody else has let them read stays, and is taken away by whoever may change the workspace.
	wantCode(t, "by an owner", set(w.owner, "d"), "")
	wantCode(t, "one more beside", set(narrow, "d", "c"), "")
	wantCode(t, "fewer", set(operator, "d"), "")
	wantCode(t, "none", set(operator), "")
	wantCode(t, "again", set(operator, "d"), fault.RightMissing)

	settings := workspace.Defaults()
	settings.Reads = []string{"d"}
	_, err = w.Create(w.ctx, operator, "new", settings)
	wantCode(t, "a new one", err, fault.RightMissing)
	_, err = w.Create(w.ctx, auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}, "new", settings)
	wantCode(t, "another organization's own", err, "")
}
