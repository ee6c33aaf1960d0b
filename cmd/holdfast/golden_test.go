package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/inventory/transfer"
	"github.com/holdfast/holdfast/storage/moving"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenColumns is how wide the terminal of the goldens is.
const goldenColumns = 80

// goldenLines are commands that show a table, a listing or a thing, with what to run for each.
func goldenLines() map[string][]string {
	return map[string][]string{
		"state list": nil, "lock list": nil, "audit list": nil, "run list": nil, "workspace list": nil, "pool list": nil,
		"repo list": nil, "layer list": nil, "layer show": {longName}, "layer drift": nil, "layer drift --trend": nil,
		"pull list": nil, "pull show": {"infra", "7"},
		"layer discover": {"infra"}, "layer accept": {"infra", "--all"},
		"whoami": nil, "data query": nil,
		"org list": nil, "key list": nil,
		"state show": {longName}, "state versions": {longName}, "state diff": {longName, "42"}, "state outputs": {longName},
		"state expect":   {"--list"},
		"candidate list": {longName}, "candidate show": {longName, "6cfe64124c473b25"},
		"candidate diff": {longName, "6cfe64124c473b25"},
		"run show":       {goldenRun}, "run events": {goldenRun}, "run outputs": {goldenRun}, "run changes": {goldenRun},
		"workspace show": {longName}, "config list": {longName}, "config diff": {longName},
		"resource search": {"node"}, "resource coverage": nil,
		"iac runs":         {"product-a-dev", "db"},
		"resource history": {"aws_iam_policy.deploy", "--state", longName},
	}
}

// goldenShows are commands whose tables are of what is not asked of a server: what they show, with
// what they may find.
func goldenShows() map[string]func(a *app) error {
	org, other := uuid.MustParse(someOrg), uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	imported := func(a *app) error {
		return a.showBrought([]brought{{Name: longName, Versions: 1042, Stored: 1041, Serial: 1042, Digest: goldenSHA},
			{Name: "web", Versions: 1, Serial: 1, Digest: goldenSHA}}, broughtFlags{})
	}
	reconciled := func(a *app) error { return a.showReconcile(goldenReconcile(), false) }
	return map[string]func(a *app) error{
		"enclave plan": reconciled, "enclave apply": reconciled, "enclave destroy": reconciled,
		"enclave status": func(a *app) error {
			return a.showStatus([]reconcile.Status{
				{Path: "product-a-dev/db", Exists: true, Status: "current", Run: goldenRun, Outputs: []string{"hostname", "port"}},
				{Path: "product-a-dev/api", Status: "unknown", Why: []string{"product-a-dev/db has no output hostname yet"}},
			}, false)
		},
		"import folder": imported, "import http": imported, "import gitlab": imported, "import s3": imported,
		"import tfe": imported, "import export": imported,
		"export": func(a *app) error {
			return a.showExported(exported{File: "acme.zip", States: 1042, Versions: 1_000_000, Purged: 1, Records: 12,
				Configurations: 217, Runs: 4711, Events: 7_000_000, Signer: goldenSHA})
		},
		"tool list": func(a *app) error {
			return a.showTools([]tools.Tool{
				{Name: "opentofu", Version: "1.12.6", OS: "linux", Arch: "amd64", Added: goldenTime(9), SHA256: goldenSHA,
					Origin: "https://releases.example.com/opentofu/1.12.6/tofu_1.12.6_linux_amd64.zip"},
				{Name: "terraform", Version: "1.5.7", OS: "linux", Arch: "amd64", Added: goldenTime(9), SHA256: goldenSHA,
					Origin: "/usr/local/bin/terraform"},
			}, false)
		},
		"data migrate": func(a *app) error {
			sum := transfer.Extent{Count: 1_000_000, SHA256: goldenSHA}
			return a.showMigration(&migration{moves: []*move{{Org: org, Added: 1_000_000, Source: sum, Target: sum,
				Result: moveEqual}, {Org: other, Source: transfer.Extent{Count: 12}}}}, migrateFlags{})
		},
		"migrate": func(a *app) error {
			there := moving.Extent{Table: "versions", Records: 1_000_000, SHA256: goldenSHA}
			part := moving.Extent{Table: "audit events", Records: 7_000_000, SHA256: goldenSHA}
			return (&relocation{a: a, flags: movingFlags{to: "mysql"}, tables: []movedTable{
				{Extent: there, Copied: 12, Target: there, Equal: true}, {Extent: part, Target: there},
			}}).show(true)
		},
		"bench": func(a *app) error {
			latency := bench.Latency{P50: 1234.56, P95: 2345.67, P99: 3456.78}
			return a.showBench([]bench.Result{{Mix: bench.Cycle, Size: 100_000, Connections: 16, Operations: 1_234_567,
				PerSecond: 12345.6, Latency: latency},
				{Mix: bench.Upload, Connections: 1024, Operations: 99, PerSecond: 9.9, Latency: latency}}, false)
		},
	}
}

// goldenReconcile is what becomes of partitions.
func goldenReconcile() []reconcile.Result {
	return []reconcile.Result{
		{Path: "product-a-dev/db", Action: reconcile.Update, Why: []string{"main.tf differs, the variable db_name differs"},
			Outcome: reconcile.Failed, Run: goldenRun, Reason: "run " + goldenRun + " is failed: the tool says no"},
		{Path: "product-a-dev/api", Outcome: reconcile.Skipped, Reason: "product-a-dev/db is failed"},
		{Path: longName, Action: reconcile.None, Outcome: reconcile.Unchanged},
	}
}

// speaking are the commands that show no table: they say in a line or two what they have done, or
// hand on bytes, logs and tokens as they are.
func speaking() []string {
	return []string{
		"serve", "init", "org add", "org alias", "org rename", "org remove", "org shred",
		"key add", "key rotate", "key revoke",
		"auth push", "auth pull",
		"state backend", "state pull", "state push", "state rm", "state rollback", "state undelete", "lock release",
		"candidate add", "candidate promote", "candidate discard",
		"workspace create", "workspace set", "workspace unset", "workspace delete", "config push", "config pull",
		"run plan", "run apply", "run destroy", "run approve", "run deny", "run cancel", "run retry", "run resolve",
		"run log", "run discard", "run insight", "insight", "policy test", "policy push", "policy list", "policy show",
		"policy remove",
		"enclave validate", "enclave graph", "enclave diff", "iac logs",
		"infra plan", "infra apply", "infra pull", // their texts have goldens of their own
		"pool create", "pool rotate", "pool remove", "pool set", "pool grant", "pool revoke", "pool accept",
		"repo add", "repo show", "repo set", "repo fetch", "repo secret", "repo remove",
		"pull look", "pull allow", "pull settings",
		"layer add", "layer set", "layer sync", "layer check", "layer expect", "layer remove",
		"engine init", "engine validate", "engine plan", "engine show", "engine apply", "engine destroy", "engine refresh",
		"engine output", "engine force-unlock", "engine state list", "engine state mv", "engine state rm",
		"engine debug state", "engine debug diff", "engine debug graph", "engine debug snapshot", "engine debug replay",
		"engine state restore", "engine drift", "engine import", "engine workspace list", "engine workspace new",
		"engine workspace select",
		"tool add", "tool download", "tool remove", "agent", "health", "version",
		"data tail", // the table of data query, line by line
		"data export", "data import", "backup verify", "backup load", "restore", "seal rotate",
		"seal forget",
		"doctor", "audit verify", "audit head", // say sentences
	}
}

// leaves are the commands that do something, by their names without that of the program.
func leaves(cmd *cobra.Command) (all []*cobra.Command) {
	for _, child := range cmd.Commands() {
		if child.Hidden {
			continue
		}
		if !child.HasSubCommands() {
			all = append(all, child)
		}
		all = append(all, leaves(child)...)
	}
	return all
}

func nameOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "holdfast ") }

// Every command either has a golden or shows no table.
func TestEveryTableHasAGolden(t *testing.T) {
	lines, shows, spoken := goldenLines(), goldenShows(), speaking()
	for _, cmd := range leaves(newRootCommand(newShell(t).app(nil, nil))) {
		name := nameOf(cmd)
		_, isLine := lines[name]
		_, isShow := shows[name]
		isSpoken := slices.Contains(spoken, name)
		if isLine || isShow {
			if _, err := os.Stat(goldenPath(name)); err != nil && !*update {
				t.Errorf("holdfast %s: %v", name, err)
			}
		} else if !isSpoken {
			t.Errorf("holdfast %s has no golden, and is not among those that show no table", name)
		}
		if wide := cmd.Flags().Lookup("wide"); isSpoken && wide != nil && name != "data tail" {
			t.Errorf("holdfast %s shows a table and has no golden", name)
		}
		spoken = slices.DeleteFunc(spoken, func(other string) bool { return other == name })
	}
	if len(spoken) > 0 {
		t.Errorf("there are no such commands: %q", spoken)
	}
}

func goldenPath(name string) string {
	return filepath.Join("testdata", "golden", strings.ReplaceAll(name, " ", "-")+".txt")
}

func TestGoldens(t *testing.T) {
	for name, args := range goldenLines() {
		t.Run(name, func(t *testing.T) {
			s := goldenShell(t)
			wantGolden(t, name, s.must(append(strings.Fields(name), args...)...))
		})
	}
	for name, show := range goldenShows() {
		t.Run(name, func(t *testing.T) {
			s := goldenShell(t)
			var out strings.Builder
			if err := show(s.app(&out, &out)); err != nil {
				t.Fatal(err)
			}
			wantGolden(t, name, out.String())
		})
	}
}

// goldenShell is a terminal of 80 columns, with a server and a file of keys.
func goldenShell(t *testing.T) *shell {
	s := newShell(t)
	s.answering()
	s.columns, s.environ = goldenColumns, append(s.environ, "NO_COLOR=1")
	hash := "$2a$10$" + strings.Repeat("x", 53)
	text := "[" + someOrg + "]\nname = Payments and Settlement, Europe, Middle East and Africa\napikey = " + hash +
		" ; 2026-11-21 first key\n" +
		"[" + someOrg + ".ci]\nrole = writer\nstates = prod/*, team-payments/europe-west-4/*\nexpires = 2027-02-19\nfrom = " +
		"10.0.0.0/8\napikey = " + strings.ReplaceAll(hash, "x", "y") + " ; runner\n" +
		"[66666666-7777-8888-9999-aaaaaaaaaaaa]\nname = Acme\napikey = " + strings.ReplaceAll(hash, "x", "z") + "\n"
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// wantGolden compares an output with its golden, and holds that no line is wider than the
// terminal and that no name is cut.
func wantGolden(t *testing.T, name, have string) {
	t.Helper()
	for line := range strings.Lines(have) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > goldenColumns {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	if strings.Contains(have, longName[:40]) && !strings.Contains(have, longName) {
		t.Errorf("a name is cut\n%s", have)
	}
	path := goldenPath(name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (`go test ./cmd/holdfast -run TestGoldens -update` writes it anew): %s", path, diff)
	}
}

// With --wide nothing is left out or shortened.
func TestWideShowsAll(t *testing.T) {
	s := goldenShell(t)
	for line, want := range map[string]string{
		"state list": longWho + "  2", "run list": goldenRun + "  " + longName + "  apply",
		"lock list": "9db590f1-b6fe-c5f2-2678-8804f089deba",
		"key list":  someOrg + " Payments and", "state show " + longName: goldenSHA, "config list " + longName: goldenSHA,
		"audit list": "2026-11-21T11:00:00Z  state.write", "data query": `"zone":"eu-1a","tags":{"team":"payments"}}`,
	} {
		out := s.must(append(strings.Fields(line), "--wide")...)
		if !strings.Contains(out, want) || strings.Contains(out, below) {
			t.Errorf("%s: printed\n%s", line, out)
		}
	}
}

// A narrow terminal makes more lines, and cuts nothing.
func TestNarrowTables(t *testing.T) {
	for _, columns := range []int{20, 40, 60, 100, 200} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			s := goldenShell(t)
			s.columns = columns
			for _, line := range []string{"state list", "lock list", "run list", "workspace list"} {
				if out := s.must(strings.Fields(line)...); !strings.Contains(out, longName) {
					t.Errorf("%s\n%s", line, out)
				}
			}
		})
	}
}
