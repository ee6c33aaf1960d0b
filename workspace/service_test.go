package workspace_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

func text(name, value string) workspace.Value {
	return workspace.Value{Key: workspace.Key{Kind: workspace.TerraformVariable, Name: name}, Value: value}
}

func environment(name, value string) workspace.Value {
	return workspace.Value{Key: workspace.Key{Kind: workspace.EnvironmentVariable, Name: name}, Value: value}
}

// Whoever lacks a right is refused everything, and on record.
func TestRights(t *testing.T) {
	w := made(t, workspace.Limits{})
	if _, err := w.push(archive(t, entry{name: "main.tf"})); err != nil {
		t.Fatal(err)
	}
	some, err := auth.ParsePatterns("b/*")
	if err != nil {
		t.Fatal(err)
	}
	nobody := auth.Principal{Org: w.owner.Org, Grant: auth.Grant{Role: auth.Uploader}}
	reader := auth.Principal{Org: w.owner.Org, Grant: auth.Grant{Role: auth.Reader}}
	elsewhere := auth.Principal{Org: w.owner.Org, Grant: auth.Grant{Role: auth.Writer, States: some}}
	digest := workspace.Digest(sha256.Sum256(nil))
	for name, call := range map[string]struct {
		do     func(auth.Principal) error
		writes bool
	}{
		"create": {func(p auth.Principal) error { _, err := w.Create(w.ctx, p, "a", workspace.Defaults()); return err },
			true},
		"get": {func(p auth.Principal) error { _, err := w.Get(w.ctx, p, "a"); return err }, false},
		"configure": {func(p auth.Principal) error {
			_, err := w.Configure(w.ctx, p, "a", func(*workspace.Settings) {})
			return err
		}, true},
		"delete":    {func(p auth.Principal) error { return w.Delete(w.ctx, p, "a") }, true},
		"variables": {func(p auth.Principal) error { _, _, err := w.Variables(w.ctx, p, "a"); return err }, false},
		"set":       {func(p auth.Principal) error { return w.SetVariables(w.ctx, p, "a", nil, nil) }, true},
		"set all":   {func(p auth.Principal) error { return w.SetVariables(w.ctx, p, "", nil, nil) }, true},
		"missing":   {func(p auth.Principal) error { _, err := w.Missing(w.ctx, p, "a", nil); return err }, true},
		"content":   {func(p auth.Principal) error { return w.PutContent(w.ctx, p, "a", digest, &bytes.Buffer{}) }, true},
		"push":      {func(p auth.Principal) error { _, err := w.Push(w.ctx, p, "a", nil, "", nil); return err }, true},
		"archive": {func(p auth.Principal) error {
			_, err := w.PushArchive(w.ctx, p, "a", &bytes.Buffer{}, "", nil)
			return err
		}, true},
		"put": {func(p auth.Principal) error {
			_, err := w.PutFile(w.ctx, p, "a", workspace.File{Path: "x"}, &bytes.Buffer{}, nil)
			return err
		}, true},
		"remove":   {func(p auth.Principal) error { _, err := w.RemoveFile(w.ctx, p, "a", "x", nil); return err }, true},
		"entries":  {func(p auth.Principal) error { _, _, err := w.Entries(w.ctx, p, "a", 0, 1); return err }, false},
		"snapshot": {func(p auth.Principal) error { _, err := w.Entry(w.ctx, p, "a", ""); return err }, false},
		"file": {func(p auth.Principal) error { _, _, err := w.OpenFile(w.ctx, p, "a", "", "main.tf"); return err },
			false},
		"diff": {func(p auth.Principal) error { _, _, err := w.Sides(w.ctx, p, "a", "", ""); return err }, false},
	} {
		before := len(w.events.all)
		wantCode(t, name+" by nobody", call.do(nobody), fault.RightMissing)
		if last := w.events.all[len(w.events.all)-1]; len(w.events.all) == before || last.Action != audit.AccessRefused {
			t.Errorf("%s: the refusal is not on record", name)
		}
		wantCode(t, name+" elsewhere", call.do(elsewhere), fault.RightMissing)
		if call.writes {
			wantCode(t, name+" by a reader", call.do(reader), fault.RightMissing)
		} else {
			wantCode(t, name+" by a reader", call.do(reader), "")
		}
		wantCode(t, name+" by a stranger", call.do(auth.Principal{}), fault.CredentialsNeeded)
	}
	seen, _, err := w.List(w.ctx, elsewhere, "", 10)
	wantCode(t, "list elsewhere", err, "")
	if len(seen) != 0 {
		t.Errorf("elsewhere sees %v", seen)
	}
}

func TestVariableRules(t *testing.T) {
	w := made(t, workspace.Limits{ValueBytes: 100, VariableBytes: 250, Variables: 4})
	hcl := func(name, value string) workspace.Value { v := text(name, value); v.HCL = true; return v }
	for _, c := range []struct {
		v    workspace.Value
		code fault.Code
	}{
		{text("region", "x"), ""}, {text("größe", "x"), ""}, {text("a-b", "x"), ""},
		{text("", "x"), fault.VariableInvalid}, {text("1a", "x"), fault.VariableInvalid},
		{text("a b", "x"), fault.VariableInvalid},
		{text("a.b", "x"), fault.VariableInvalid}, {text(strings.Repeat("a", 256), "x"), fault.VariableInvalid},
		{text("for_each", "x"), fault.VariableRefused}, {text("version", "x"), fault.VariableRefused},
		{environment("AWS_REGION", "x"), ""}, {environment("_x1", "x"), ""}, {environment("TF_LOG", "INFO"), ""},
		{environment("TF_LOG", "TRACE"), fault.VariableRefused},
		{environment("TF_LOG_PROVIDER", "json"), fault.VariableRefused},
		{environment("1A", "x"), fault.VariableInvalid}, {environment("A=B", "x"), fault.VariableInvalid},
		{environment("Ä", "x"), fault.VariableInvalid},
		{environment("TF_HTTP_PASSWORD", "x"), fault.VariableRefused},
		{environment("TF_CLI_CONFIG_FILE", "x"), fault.VariableRefused},
		{environment("TF_VAR_a", "x"), fault.VariableRefused}, {environment("LD_PRELOAD", "x"), fault.VariableRefused},
		{environment("PATH", "x"), fault.VariableRefused}, {environment("home", "x"), fault.VariableRefused},
		{environment("TF_CLI_ARGS_plan", "x"), fault.VariableRefused},
		{environment("HOLDFAST_KEY", "x"), fault.VariableRefused},
		{workspace.Value{Key: workspace.Key{Kind: "other", Name: "x"}}, fault.VariableInvalid},
		{hcl("l", `["a", {b = 1}]`), ""}, {hcl("l", "null"), ""}, {hcl("l", "<<E\nx\nE\n"), ""},
		{hcl("l", "["), fault.VariableHCL}, {hcl("l", "var.x"), fault.VariableHCL},
		{hcl("l", `file("/etc/passwd")`), fault.VariableHCL},
		{hcl("l", "1 2"), fault.VariableHCL}, {hcl("l", ""), fault.VariableHCL},
		{hcl("l", `"${path.module}"`), fault.VariableHCL},
		{workspace.Value{Key: environment("E", "").Key, HCL: true, Value: "[]"}, fault.VariableInvalid},
		{text("x", "a\x00b"), fault.VariableInvalid}, {text("x", "\xff"), fault.VariableInvalid},
		{text("x", strings.Repeat("x", 101)), fault.VariableInvalid},
	} {
		err := w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{c.v}, nil)
		wantCode(t, fmt.Sprintf("%s %q = %q", c.v.Kind, c.v.Name, c.v.Value), err, c.code)
		wantCode(t, "unset", w.SetVariables(w.ctx, w.owner, "a", nil, []workspace.Key{c.v.Key}), "")
	}
	long := strings.Repeat("x", 100)
	wantCode(t, "too long together",
		w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{text("a", long), text("b", long), text("c", long)}, nil),
		fault.VariablesFull)
	wantCode(t, "too many", w.SetVariables(w.ctx, w.owner, "a",
		[]workspace.Value{text("a", ""), text("b", ""), text("c", ""), text("d", ""), text("e", "")}, nil),
		fault.VariablesFull)
	wantCode(t, "twice", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{text("a", ""), text("a", "")}, nil),
		fault.VariableInvalid)
	wantCode(t, "of no workspace", w.SetVariables(w.ctx, w.owner, "b", []workspace.Value{text("a", "")}, nil),
		fault.WorkspaceNotFound)
}

// A refusal never repeats a value: it may be a secret.
func TestRefusalsTellNoValue(t *testing.T) {
	w := made(t, workspace.Limits{})
	for _, value := range []string{`"geheim`, "geheim(", "{ geheim = }", "geheim.x", `geheim("x")`, "${geheim}"} {
		v := text("x", value)
		v.HCL, v.Sensitive = true, true
		err := w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{v}, nil)
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// A sensitive value is for runs alone: nobody is shown it, and it is in no event and no row.
func TestSensitiveVariables(t *testing.T) {
	w := made(t, workspace.Limits{})
	secret := text("password", "geheim-geheim")
	secret.Sensitive = true
	wantCode(t, "set", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{secret, text("region", "eu")}, nil), "")
	wantCode(t, "set all", w.SetVariables(w.ctx, w.owner, "",
		[]workspace.Value{text("region", "us"), environment("E", "1")}, nil), "")
	all, _, err := w.Variables(w.ctx, w.owner, "a")
	wantCode(t, "list", err, "")
	if text := fmt.Sprintf("%+v %+v", all, w.events.all); strings.Contains(text, "geheim") ||
		!strings.Contains(text, "+password") {
		t.Error(text)
	}
	in, err := w.Inputs(w.ctx, w.owner.Org, "a")
	wantCode(t, "inputs", err, "")
	want := []workspace.Value{environment("E", "1"), secret, text("region", "eu")}
	if !slices.Equal(in.Variables, want) {
		t.Errorf("a run gets %+v", in.Variables)
	}
}

// Sensitive values are looked for in all that a run prints, which takes memory for each byte.
func TestSensitiveValuesAreBounded(t *testing.T) {
	w := made(t, workspace.Limits{SecretBytes: 100})
	v := text("a", strings.Repeat("x", 60))
	v.Sensitive = true
	wantCode(t, "one", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{v}, nil), "")
	wantCode(t, "again", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{v}, nil), "")
	v.Name = "b"
	wantCode(t, "too long together", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{v}, nil), fault.VariablesFull)
	v.Sensitive = false
	wantCode(t, "not sensitive", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{v}, nil), "")
}

// Equal inputs have equal digests, and nothing else has; the revision grows with changes alone.
func TestInputsDigest(t *testing.T) {
	w := made(t, workspace.Limits{})
	seen := map[[32]byte]int{}
	var last int64
	hcl := text("a", "1")
	hcl.HCL = true
	for i, step := range []struct {
		set   workspace.Value
		fresh bool
		moved bool
	}{{text("a", "1"), true, true}, {text("a", "1"), false, false}, {text("a", "2"), true, true},
		{text("b", "2"), true, true},
		{hcl, true, true}, {text("a", "2"), false, true}} {
		wantCode(t, "set", w.SetVariables(w.ctx, w.owner, "a", []workspace.Value{step.set}, nil), "")
		in, err := w.Inputs(w.ctx, w.owner.Org, "a")
		wantCode(t, "inputs", err, "")
		if _, known := seen[in.Digest]; known == step.fresh || (in.Revision > last) != step.moved {
			t.Errorf("step %d: digest known %v, revision %d after %d", i, known, in.Revision, last)
		}
		seen[in.Digest], last = i, in.Revision
	}
	other := made(t, workspace.Limits{})
	wantCode(t, "set", other.SetVariables(other.ctx, other.owner, "a", []workspace.Value{text("a", "2"), text("b", "2")},
		nil), "")
	in, err := other.Inputs(other.ctx, other.owner.Org, "a")
	wantCode(t, "inputs", err, "")
	if _, known := seen[in.Digest]; known {
		t.Error("another organization has the same digest")
	}
}

func TestSettingsRules(t *testing.T) {
	w := made(t, workspace.Limits{})
	for name, change := range map[string]func(*workspace.Settings){
		"tool":                  func(s *workspace.Settings) { s.Tool = "make" },
		"version":               func(s *workspace.Settings) { s.Version = "latest" },
		"version, 2":            func(s *workspace.Settings) { s.Version = ">= 1.0,, < 2" },
		"directory":             func(s *workspace.Settings) { s.Directory = "../x" },
		"directory 2":           func(s *workspace.Settings) { s.Directory = "/x" },
		"pool":                  func(s *workspace.Settings) { s.Pool = "a b" },
		"parallelism":           func(s *workspace.Settings) { s.Parallelism = -1 },
		"outputs":               func(s *workspace.Settings) { s.Outputs = []string{"a", "a"} },
		"timeout":               func(s *workspace.Settings) { s.PlanTimeout = 0 },
		"ttl":                   func(s *workspace.Settings) { s.ApprovalTTL = 1000 * 24 * time.Hour },
		"auto-apply":            func(s *workspace.Settings) { s.AutoApply = "yes" },
		"approvals":             func(s *workspace.Settings) { s.Approvals = 21 },
		"both":                  func(s *workspace.Settings) { s.Approvals, s.AutoApply = 1, workspace.ApplyAlways },
		"sandbox":               func(s *workspace.Settings) { s.MinSandbox = "vm" },
		"gate":                  func(s *workspace.Settings) { s.Gate = "none" }, // is the wire's word
		"cost":                  func(s *workspace.Settings) { s.GateMonthlyCost = -1 },
		"condition":             func(s *workspace.Settings) { s.GateWhen = "facts.delet > 5" },
		"no condition":          func(s *workspace.Settings) { s.GateWhen = "facts.delete" },
		"approvals for nothing": func(s *workspace.Settings) { s.ApprovalsFor = map[string]int{"ransom": 2} },
		"approvers for nothing": func(s *workspace.Settings) { s.ApproversFor = map[string][]string{"ransom": {"token.a"}} },
		"no approvers for":      func(s *workspace.Settings) { s.ApproversFor = map[string][]string{"cost": {}} },
		"approvers that are no IDs": func(s *workspace.Settings) {
			s.ApproversFor = map[string][]string{"cost": {"0123456789ab", "anna"}}
		},
		"no approvals for": func(s *workspace.Settings) { s.ApprovalsFor = map[string]int{"cost": 0} },
	} {
		_, err := w.Configure(w.ctx, w.owner, "a", change)
		wantCode(t, name, err, fault.WorkspaceInvalid)
	}
	_, err := w.Configure(w.ctx, w.owner, "a", func(s *workspace.Settings) {
		s.Version, s.Directory, s.Outputs = "~> 1.12, != 1.12.3", "infra/eu", []string{"a", "b-c"}
	})
	wantCode(t, "good ones", err, "")
	if got, err := w.Get(w.ctx, w.owner, "a"); err != nil || got.Revision != 2 {
		t.Errorf("revision %d, %v", got.Revision, err)
	}
}

func TestCreateAgainAndLimits(t *testing.T) {
	w := newWorld(t, workspace.Limits{Workspaces: 2})
	for i, c := range []struct {
		name      state.Name
		approvals int
		code      fault.Code
	}{{"a", 0, ""}, {"a", 0, ""}, {"a", 1, fault.WorkspaceExists}, {"b", 0, ""}, {"c", 0, fault.WorkspacesFull},
		{"a", 0, ""}, {"..", 0, fault.NameInvalid}} {
		settings := workspace.Defaults()
		settings.Approvals = c.approvals
		_, err := w.Create(w.ctx, w.owner, c.name, settings)
		wantCode(t, fmt.Sprint(i), err, c.code)
	}
	if n := len(w.events.actions()); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestDeleteWhileARunGoesOn(t *testing.T) {
	w := made(t, workspace.Limits{})
	w.runs.mutating = "run-1"
	wantCode(t, "while a run goes on", w.Delete(w.ctx, w.owner, "a"), fault.WorkspaceInUse)
	w.runs.mutating = ""
	wantCode(t, "after it", w.Delete(w.ctx, w.owner, "a"), "")
	wantCode(t, "again", w.Delete(w.ctx, w.owner, "a"), "")
	_, err := w.Get(w.ctx, w.owner, "a")
	wantCode(t, "deleted", err, fault.WorkspaceNotFound)
}

// What the audit log could not take comes later, once.
func TestAuditLogThatIsAway(t *testing.T) {
	w := newWorld(t, workspace.Limits{})
	w.events.err = errors.New("the disk is full")
	_, err := w.Create(w.ctx, w.owner, "a", workspace.Defaults())
	wantCode(t, "create", err, "")
	w.events.err = nil
	wantCode(t, "sweep", w.Sweep(w.ctx), "")
	wantCode(t, "sweep again", w.Sweep(w.ctx), "")
	if !slices.Equal(w.events.actions(), []audit.Action{workspace.ActionCreate}) {
		t.Errorf("%v are on record", w.events.actions())
	}
}

// By checksums only what changed travels.
func TestPushByChecksums(t *testing.T) {
	w := made(t, workspace.Limits{FileBytes: 100})
	digest := func(text string) workspace.Digest { return sha256.Sum256([]byte(text)) }
	one, two := "a = 1\n", "b = 2\n"
	files := []workspace.File{{Path: "a.tf", Digest: digest(one)}, {Path: "b.tf", Digest: digest(two)}}
	_, err := w.Push(w.ctx, w.owner, "a", slices.Clone(files), "", nil)
	wantCode(t, "before the contents", err, fault.FilesMissing)
	wantCode(t, "one", w.PutContent(w.ctx, w.owner, "a", digest(one), strings.NewReader(one)), "")
	wantCode(t, "damaged", w.PutContent(w.ctx, w.owner, "a", digest(two), strings.NewReader("b = 3\n")),
		fault.DigestMismatch)
	wantCode(t, "too large", w.PutContent(w.ctx, w.owner, "a", digest(two), strings.NewReader(strings.Repeat("x", 101))),
		fault.FileTooLarge)
	missing, err := w.Missing(w.ctx, w.owner, "a", []workspace.Digest{digest(one), digest(two)})
	if err != nil || !slices.Equal(missing, []workspace.Digest{digest(two)}) {
		t.Errorf("missing %v, %v", missing, err)
	}
	wantCode(t, "two", w.PutContent(w.ctx, w.owner, "a", digest(two), strings.NewReader(two)), "")
	e, err := w.Push(w.ctx, w.owner, "a", slices.Clone(files), "m", nil)
	wantCode(t, "push", err, "")
	if e.Bytes != 12 || e.Message != "m" {
		t.Errorf("%+v", e)
	}
	wantCode(t, "no text", w.PutContent(w.ctx, w.owner, "a", digest("\xff"), strings.NewReader("\xff")), "")
	_, err = w.Push(w.ctx, w.owner, "a", []workspace.File{{Path: "a.tf", Digest: digest("\xff")}}, "", nil)
	wantCode(t, "as text", err, fault.FileNotText)
	_, err = w.Push(w.ctx, w.owner, "a", []workspace.File{{Path: "a.bin", Digest: digest("\xff")}}, "", nil)
	wantCode(t, "as it is", err, "")
	_, err = w.Push(w.ctx, w.owner, "a", []workspace.File{{Path: "a.tf", Digest: digest("\xff")}}, "", nil)
	wantCode(t, "as text, once it is known", err, fault.FileNotText)
}

// Single files that several people change at once are all kept.
func TestFilesAtOnce(t *testing.T) {
	w := made(t, workspace.Limits{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: fmt.Sprint("f", i)}, strings.NewReader("x"), nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	newest, err := w.Entry(w.ctx, w.owner, "a", "")
	wantCode(t, "the newest", err, "")
	found, err := w.Snapshot(w.ctx, w.owner.Org, newest)
	if err != nil || len(found.Files) != 8 {
		t.Errorf("%d files, %v", len(found.Files), err)
	}
	zero := int64(0)
	_, err = w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader("x"), &zero)
	wantCode(t, "on another one", err, fault.SnapshotMoved)
	_, err = w.RemoveFile(w.ctx, w.owner, "a", "none", nil)
	wantCode(t, "of none", err, fault.FileNotFound)
}

// A workspace keeps its newest snapshots, young ones, and those that runs need.
func TestRetention(t *testing.T) {
	w := made(t, workspace.Limits{Snapshots: 3, SnapshotAge: time.Hour})
	var ids []string
	push := func(n int) {
		e, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader(fmt.Sprint(n)), nil)
		wantCode(t, "put", err, "")
		ids = append(ids, e.ID.String())
	}
	for n := range 6 {
		push(n)
	}
	if n := w.snapshots(); n != 6 {
		t.Errorf("%d young snapshots are left", n)
	}
	w.runs.needed = map[string]bool{ids[1]: true}
	w.clock.Sleep(2 * time.Hour)
	push(6)
	var left []int64
	all, _, err := w.Entries(w.ctx, w.owner, "a", 0, 100)
	wantCode(t, "entries", err, "")
	for _, e := range all {
		left = append(left, e.Number)
	}
	if !slices.Equal(left, []int64{7, 6, 5, 2}) {
		t.Errorf("left are %v", left)
	}
	_, err = w.Entry(w.ctx, w.owner, "a", ids[0])
	wantCode(t, "an old one", err, fault.SnapshotNotFound)
	_, _, err = w.OpenFile(w.ctx, w.owner, "a", ids[1], "x")
	wantCode(t, "one that a run needs", err, "")
}

func TestStoredBytesAreBounded(t *testing.T) {
	w := made(t, workspace.Limits{StoredBytes: 10})
	_, err := w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "x"}, strings.NewReader(strings.Repeat("x", 20)), nil)
	wantCode(t, "first", err, "")
	_, err = w.PutFile(w.ctx, w.owner, "a", workspace.File{Path: "y"}, strings.NewReader("y"), nil)
	wantCode(t, "beyond", err, fault.QuotaExceeded)
	_, err = w.push(archive(t, entry{name: "x"}))
	wantCode(t, "archive beyond", err, fault.QuotaExceeded)
}

func TestDiff(t *testing.T) {
	w := made(t, workspace.Limits{})
	for _, entries := range [][]entry{
		{{name: "a.tf", content: "a\nb\nc\n"}, {name: "gone", content: "x\n"}, {name: "run.sh", content: "s\n"},
			{name: "bin", content: "\x00"}},
		{{name: "a.tf", content: "a\nB\nc\n"}, {name: "new", content: "no newline"},
			{name: "run.sh", content: "s\n", mode: 0o755}, {name: "bin", content: "\x01"}},
	} {
		_, err := w.push(archive(t, entries...))
		wantCode(t, "push", err, "")
	}
	diff := func(from, to string) (before, after workspace.Entry, how string) {
		t.Helper()
		before, after, err := w.Sides(w.ctx, w.owner, "a", from, to)
		wantCode(t, "sides", err, "")
		all, err := w.Diff(w.ctx, w.owner.Org, before, after)
		wantCode(t, "diff", err, "")
		for _, d := range all {
			how += d.How + " " + d.Path + ", "
		}
		return before, after, how
	}
	before, after, how := diff("", "")
	if how != "modified a.tf, modified bin, removed gone, added new, modified run.sh, " {
		t.Error(how)
	}
	var b bytes.Buffer
	wantCode(t, "write", w.WriteDiff(w.ctx, w.owner.Org, before, after, &b), "")
	want := `--- a/a.tf
+++ b/a.tf
@@ -1,3 +1,3 @@
 a
-b
+B
 c
Files a/bin and b/bin differ, and are not compared line by line
--- a/gone
+++ /dev/null
@@ -1,1 +0,0 @@
-x
--- /dev/null
+++ b/new
@@ -0,0 +1,1 @@
+no newline
\ No newline at end of file
mode of run.sh: 755, before 644
`
	if before.Number != 1 || after.Number != 2 || b.String() != want {
		t.Errorf("from %d to %d:\n%s", before.Number, after.Number, b.String())
	}
	if _, _, how := diff("2", "1"); strings.Count(how, ",") != 5 {
		t.Errorf("backwards: %s", how)
	}
	if _, _, how := diff("", "1"); strings.Count(how, ",") != 4 {
		t.Errorf("the first one: %s", how)
	}
}

// Another organization finds nothing, by whatever it guesses.
func TestOtherOrganization(t *testing.T) {
	w := made(t, workspace.Limits{})
	e, err := w.push(archive(t, entry{name: "main.tf", content: "a = 1\n"}))
	wantCode(t, "push", err, "")
	other := auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}
	_, err = w.Create(w.ctx, other, "a", workspace.Defaults())
	wantCode(t, "create", err, "")
	_, err = w.Entry(w.ctx, other, "a", e.ID.String())
	wantCode(t, "snapshot", err, fault.SnapshotNotFound)
	digest := workspace.Digest(sha256.Sum256([]byte("a = 1\n")))
	missing, err := w.Missing(w.ctx, other, "a", []workspace.Digest{digest})
	if err != nil || len(missing) != 1 {
		t.Errorf("missing %v, %v", missing, err)
	}
	_, err = w.Push(w.ctx, other, "a", []workspace.File{{Path: "main.tf", Digest: digest}}, "", nil)
	wantCode(t, "push of what another one has", err, fault.FilesMissing)
}

// Who may not approve can't do without approvals by way of the settings, or of a new workspace.
func TestApprovalsAreNotLoweredByOperators(t *testing.T) {
	w := made(t, workspace.Limits{})
	operator := auth.Principal{Org: w.owner.Org, KeyID: "operator", Grant: auth.Grant{Role: auth.Operator}}
	set := func(p auth.Principal, approvals int, author bool) error {
		_, err := w.Configure(w.ctx, p, "a", func(s *workspace.Settings) { s.Approvals, s.AllowAuthor = approvals, author })
		return err
	}
	wantCode(t, "more", set(operator, 2, false), "")
	before := len(w.events.all)
	wantCode(t, "fewer", set(operator, 1, false), fault.RightMissing)
	if last := w.events.all[len(w.events.all)-1]; len(w.events.all) == before || last.Action != audit.AccessRefused {
		t.Error("the refusal is not on record")
	}
	wantCode(t, "the author's", set(operator, 2, true), fault.RightMissing)
	wantCode(t, "deleted", w.Delete(w.ctx, operator, "a"), fault.RightMissing)
	wantCode(t, "by an owner", set(w.owner, 0, true), "")
	wantCode(t, "deleted without approvals", w.Delete(w.ctx, operator, "a"), "")
}

// Nor is a gate weakened by who may not approve: its plans would be applied with less of a say of others.
func TestGatesAreNotWeakenedByOperators(t *testing.T) {
	w := made(t, workspace.Limits{})
	operator := auth.Principal{Org: w.owner.Org, KeyID: "operator", Grant: auth.Grant{Role: auth.Operator}}
	type settings = workspace.Settings
	set := func(p auth.Principal, change func(*settings)) error {
		_, err := w.Configure(w.ctx, p, "a", change)
		return err
	}
	wantCode(t, "gates", set(operator, func(s *settings) {
		s.AutoApply, s.Gate, s.GateIrreversible, s.GateMonthlyCost = workspace.ApplyAlways, workspace.GateCritical, true, 100
	}), "")
	for name, c := range map[string]struct {
		change  func(*settings)
		weakens bool
	}{
		"no findings":       {func(s *settings) { s.Gate = "" }, true},
		"high findings":     {func(s *settings) { s.Gate = workspace.GateHigh }, false},
		"critical again":    {func(s *settings) { s.Gate = workspace.GateCritical }, true},
		"irreversible":      {func(s *settings) { s.GateIrreversible = false }, true},
		"no cost":           {func(s *settings) { s.GateMonthlyCost = 0 }, true},
		"a higher cost":     {func(s *settings) { s.GateMonthlyCost = 101 }, true},
		"a lower cost":      {func(s *settings) { s.GateMonthlyCost = 99 }, false},
		"no condition":      {func(s *settings) { s.GateWhen = "" }, true},
		"another condition": {func(s *settings) { s.GateWhen = "facts.delete > 4" }, true},
		"fewer approvals":   {func(s *settings) { s.ApprovalsFor = map[string]int{"critical": 1, "cost": 3} }, true},
		"more approvals":    {func(s *settings) { s.ApprovalsFor = map[string]int{"critical": 3, "cost": 1} }, false},
		"fewer approvers":   {func(s *settings) { s.ApproversFor = map[string][]string{"critical": {"token.a"}} }, false},
		"other approvers":   {func(s *settings) { s.ApproversFor = map[string][]string{"critical": {"token.c"}} }, true},
		"all approvers":     {func(s *settings) { s.ApproversFor = nil }, true},
		"the author":        {func(s *settings) { s.AllowAuthor = true }, true},
		"something else":    {func(s *settings) { s.Protected = true }, false},
		"applied by hand":   {func(s *settings) { s.AutoApply = workspace.ApplyNever }, false},
	} {
		wantCode(t, name+", before", set(w.owner, func(s *settings) {
			s.Gate, s.GateIrreversible, s.GateMonthlyCost, s.AllowAuthor = workspace.GateHigh, true, 100, false
			s.GateWhen, s.ApprovalsFor = "facts.delete > 5", map[string]int{"critical": 2}
			s.ApproversFor = map[string][]string{"critical": {"token.a", "token.b"}}
			if name == "high findings" {
				s.Gate = workspace.GateCritical
			}
		}), "")
		before, code := len(w.events.all), fault.Code("")
		if c.weakens {
			code = fault.RightMissing
		}
		wantCode(t, name, set(operator, c.change), code)
		if last := w.events.all[len(w.events.all)-1]; len(w.events.all) == before ||
			(last.Action == audit.AccessRefused) != c.weakens {
			t.Errorf("%s: on record is %s", name, last.Action)
		}
		wantCode(t, name+", by an owner", set(w.owner, c.change), "")
	}
	wantCode(t, "deleted", w.Delete(w.ctx, operator, "a"), fault.RightMissing)
	wantCode(t, "opened", set(w.owner, func(s *settings) {
		s.Gate, s.GateIrreversible, s.GateMonthlyCost = "", false, 0
		s.GateWhen, s.ApprovalsFor, s.ApproversFor = "", nil, nil
	}), "")
	wantCode(t, "deleted without gates", w.Delete(w.ctx, operator, "a"), "")
}

// Runs of a workspace whose pool there is not would wait for ever.
func TestPoolsMustBeThere(t *testing.T) {
	w := made(t, workspace.Limits{})
	settings := workspace.Defaults()
	settings.Pool = "absent"
	_, created := w.Create(w.ctx, w.owner, "b", settings)
	wantCode(t, "create", created, fault.PoolNotFound)
	to := func(pool string) error {
		_, err := w.Configure(w.ctx, w.owner, "a", func(s *workspace.Settings) { s.Pool = pool })
		return err
	}
	wantCode(t, "configure", to("absent"), fault.PoolNotFound)
	wantCode(t, "to one that is there", to("eu"), "")
	wantCode(t, "to the server's own", to(""), "")
}

// Whoever looks at one workspace sees that nothing of it is tried again.
func TestPausedIsShown(t *testing.T) {
	w := made(t, workspace.Limits{})
	w.runs.paused = "run 1 failed"
	if got, err := w.Get(w.ctx, w.owner, "a"); err != nil || got.Paused != "run 1 failed" {
		t.Errorf("paused because of %q, %v", got.Paused, err)
	}
}

// A list for some workspaces goes on by names of these alone, however small its pages are.
func TestListsNameNoOtherWorkspace(t *testing.T) {
	w := made(t, workspace.Limits{})
	for _, name := range []state.Name{"a-secret", "b/1", "b/2", "b0-secret", "c/secret", "b/3"} {
		_, err := w.Create(w.ctx, w.owner, name, workspace.Defaults())
		wantCode(t, string(name), err, "")
	}
	some, err := auth.ParsePatterns("b/*")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := auth.Principal{Org: w.owner.Org, Grant: auth.Grant{Role: auth.Reader, States: some}}
	for limit := 1; limit < 5; limit++ {
		var seen []string
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			page, next, err := w.List(w.ctx, elsewhere, after, limit)
			wantCode(t, "list", err, "")
			if next != "" && !some.Match(next) {
				t.Errorf("%d at a time: the list goes on behind %q", limit, next)
			}
			if len(page) > limit || pages > 10 {
				t.Fatalf("%d at a time: page %d has %d", limit, pages, len(page))
			}
			for _, one := range page {
				seen = append(seen, string(one.Name))
			}
			after = next
		}
		if got := strings.Join(seen, " "); got != "b/1 b/2 b/3" {
			t.Errorf("%d at a time: %s", limit, got)
		}
	}
}
