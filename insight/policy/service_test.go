package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
)

// log keeps what a gate records.
type log struct{ events []audit.Event }

func (l *log) Record(_ context.Context, e audit.Event) error {
	l.events = append(l.events, e)
	return nil
}

func service(t *testing.T) (*policy.Service, *log) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l := &log{}
	return policy.NewService(policy.Deps{Store: sqlpolicy.New(db), Gate: audit.NewGate(l, time.Now), Audit: l,
		Now: time.Now}), l
}

func as(org uuid.UUID, role auth.Role) auth.Principal {
	return auth.Principal{Org: org, KeyID: string(role), Grant: auth.Grant{Role: role}}
}

func file(path, text string) policy.File { return policy.File{Path: path, Content: text} }

const fine = "package p\ndeny contains \"x\" if { input.x == 1 }\ntest_x if { count(deny) == 1 with input as {\"x\": 1} }\n"

// TestRefusedBundles: what doesn't compile, or fails its tests, is refused with its place, and nothing is kept.
func TestRefusedBundles(t *testing.T) {
	s, _ := service(t)
	me := as(uuid.New(), auth.Owner)
	var many []policy.File
	for i := range policy.MaxFiles + 1 {
		many = append(many, file(fmt.Sprintf("%d.rego", i), fine))
	}
	for name, c := range map[string]struct {
		files []policy.File
		says  string // of the message or a detail
	}{
		"nothing": {nil, "1 to 100 files"},
		"many":    {many, "1 to 100 files"},
		"large":   {[]policy.File{file("a.rego", strings.Repeat("#\n", policy.MaxBytes))}, "bytes"},
		"syntax": {[]policy.File{file("a.rego", fine), file("b/c.rego", "package p\n\ndeny contains {")},
			"b/c.rego:3"},
		"no such thing": {[]policy.File{file("a.rego", "package p\ndeny contains x if { y }")}, "a.rego:2"},
		"network": {[]policy.File{file("a.rego", "package p\ndeny contains x if {\n  x := http.send({})\n}")},
			"a.rego:3"},
		"a test fails": {[]policy.File{file("a.rego", fine+"test_no if { count(deny) == 1 }\n")}, "a.rego:4"},
		"another file": {[]policy.File{file("a.txt", "x")}, "a.txt"},
		"outside":      {[]policy.File{file("../a.rego", fine)}, "relative"},
		"twice":        {[]policy.File{file("a.rego", fine), file("a.rego", fine)}, "twice"},
		"waivers":      {[]policy.File{file("waivers.yaml", "waivers:\n  - rule: x\n")}, "waivers.yaml"},
		"prices":       {[]policy.File{file("prices.csv", "x")}, "prices.csv"},
	} {
		_, err := s.Push(t.Context(), me, "", "base", c.files, policy.Hold, "")
		text := fmt.Sprint(err)
		if err != nil {
			for _, d := range fault.From(err).Details {
				text += " " + d.Pointer + " " + d.Rule
			}
		}
		if !fault.Is(err, fault.PolicyInvalid) || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := s.Push(t.Context(), me, "", "-x", []policy.File{file("a.rego", fine)}, policy.Hold, ""); !fault.Is(err,
		fault.PolicyInvalid) {
		t.Errorf("a name: %v", err)
	}
	if all, err := s.List(t.Context(), me, ""); err != nil || len(all) > 0 {
		t.Errorf("kept: %v, %v", all, err)
	}
}

// TestWhoManagesBundles: who may, and what others see.
func TestWhoManagesBundles(t *testing.T) {
	s, l := service(t)
	org := uuid.New()
	owner, narrow, approver := as(org, auth.Owner), as(org, auth.Owner), as(org, auth.Approver)
	patterns, err := auth.ParsePatterns("dev/*")
	if err != nil {
		t.Fatal(err)
	}
	narrow.States = patterns
	push := func(p auth.Principal, workspace string) error {
		_, err := s.Push(t.Context(), p, workspace, "base", []policy.File{file("a.rego", fine)}, policy.Hold, "why")
		return err
	}
	for _, c := range []struct {
		who       auth.Principal
		workspace string
		may       bool
	}{{owner, "", true}, {owner, "prod", true}, {narrow, "dev/x", true}, {narrow, "", false}, {narrow, "prod", false},
		{approver, "", false}, {approver, "prod", false}} {
		if err := push(c.who, c.workspace); (err == nil) != c.may || !c.may && !fault.Is(err, fault.RightMissing) {
			t.Errorf("%s on %q: %v", c.who.KeyID, c.workspace, err)
		}
		if err := s.Remove(t.Context(), c.who, c.workspace, "none"); (err == nil) != c.may {
			t.Errorf("%s removes of %q: %v", c.who.KeyID, c.workspace, err)
		}
	}
	if len(l.events) != 8 {
		t.Errorf("%d refusals are on record", len(l.events))
	}
	for p, want := range map[*auth.Principal]int{&owner: 3, &narrow: 2, &approver: 3} {
		if all, err := s.List(t.Context(), *p, ""); err != nil || len(all) != want {
			t.Errorf("%s sees %d, %v", p.KeyID, len(all), err)
		}
	}
	if _, _, _, err := s.Get(t.Context(), narrow, "prod", "base", 0); !fault.Is(err, fault.RightMissing) {
		t.Errorf("another workspace's: %v", err)
	}
	if _, _, _, err := s.Get(t.Context(), as(uuid.New(), auth.Owner), "", "base", 0); !fault.Is(err,
		fault.PolicyNotFound) {
		t.Errorf("another organization's: %v", err)
	}
}

// TestBundleVersions: the same files again make no version, and each version is told from the others.
func TestBundleVersions(t *testing.T) {
	s, _ := service(t)
	me := as(uuid.New(), auth.Owner)
	digests := map[string]bool{}
	for i, c := range []struct {
		text    string
		enforce policy.Enforcement
		version int64
	}{{fine, policy.Hold, 1}, {fine, policy.Hold, 1}, {fine, policy.Refuse, 2}, {fine + "# x\n", policy.Refuse, 3}} {
		made, err := s.Push(t.Context(), me, "", "base", []policy.File{file("a.rego", c.text)}, c.enforce, "")
		if err != nil || made.Version != c.version || made.Rules != 1 || made.Tests != 1 {
			t.Errorf("%d: %+v, %v", i, made, err)
		}
		in, err := s.InForce(t.Context(), me.Org, "prod")
		if err != nil || len(in.Bundles) != 1 || in.Strictest() != c.enforce {
			t.Errorf("%d: in force %+v, %v", i, in.Bundles, err)
		}
		digests[in.Digest()] = true
	}
	if len(digests) != 3 {
		t.Errorf("there are %d digests", len(digests))
	}
	one, files, all, err := s.Get(t.Context(), me, "", "base", 1)
	if err != nil || one.Version != 1 || len(files) != 1 || files[0].Content != fine || len(all) != 3 {
		t.Errorf("version 1: %+v, %v, %v, %v", one, files, all, err)
	}
	if _, _, _, err := s.Get(t.Context(), me, "", "base", 9); !fault.Is(err, fault.PolicyNotFound) {
		t.Errorf("version 9: %v", err)
	}
	if err := s.Remove(t.Context(), me, "", "base"); err != nil {
		t.Error(err)
	}
	if in, err := s.InForce(t.Context(), me.Org, "prod"); err != nil || in.Digest() != "" {
		t.Errorf("after it was removed: %v, %v", in, err)
	}
}

// TestChangedIsTold: what is in force is told of when it is another than before, and only then.
func TestChangedIsTold(t *testing.T) {
	s, _ := service(t)
	me := as(uuid.New(), auth.Owner)
	var told []string
	s.Changed = func(_ context.Context, p auth.Principal, workspace string) {
		told = append(told, p.KeyID+" "+workspace)
	}
	for _, workspace := range []string{"", "prod"} {
		for range 2 {
			if _, err := s.Push(t.Context(), me, workspace, "base", []policy.File{file("p.rego", fine)}, policy.Hold,
				""); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if err := s.Remove(t.Context(), me, "prod", "base"); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(told, ","); got != "owner ,owner prod,owner prod" {
		t.Errorf("told: %s", got)
	}
}
