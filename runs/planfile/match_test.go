package planfile

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs/outline"
)

// facts and the Want that they match.
func matching() (Facts, Want) {
	one, two := Digest{1}, Digest{2}
	facts := Facts{
		Tool: "opentofu", ToolVersion: "1.12.6", Mode: Normal, Backend: Backend{Type: "http", Workspace: "default"},
		Prior:    State{Lineage: "a-lineage", Serial: 7, ToolVersion: "1.12.6"},
		Config:   map[string]Digest{"main.tf": one, "../shared/x.tf": two, ".terraform/modules/m/main.tf": {9}},
		folders:  []string{".", "../shared", ".terraform/modules/m"},
		LockFile: NoLockFile(),
	}
	want := Want{
		Lineage: "a-lineage", Serial: 7, Tool: "opentofu", ToolVersion: "1.12.6", LockFile: NoLockFile(), WorkDir: "prod",
		Config: map[string]Digest{"prod/main.tf": one, "shared/x.tf": two, "other/y.tf": {3}, "prod/notes.txt": {4},
			"prod/.hidden.tf": {5}, "prod/b.tf~": {6}},
	}
	return facts, want
}

func TestMatch(t *testing.T) {
	tests := map[string]struct {
		edit func(f *Facts, w *Want)
		code fault.Code // empty for a match
		rule string
	}{
		"all": {func(*Facts, *Want) {}, "", ""},
		"other lineage": {func(f *Facts, _ *Want) { f.Prior.Lineage = "b" }, fault.PlanStateMismatch,
			`expected a state of lineage "a-lineage" with serial 7, found a state of lineage "b" with serial 7`},
		"other serial":         {func(f *Facts, _ *Want) { f.Prior.Serial = 8 }, fault.PlanStateMismatch, "serial 8"},
		"a first plan instead": {func(f *Facts, _ *Want) { f.Prior = State{} }, fault.PlanStateMismatch, "found no state"},
		"no first plan": {func(_ *Facts, w *Want) { w.Absent = true }, fault.PlanStateMismatch,
			"expected no state"},
		"a first plan": {func(f *Facts, w *Want) { f.Prior, w.Absent = State{}, true }, "", ""},
		"an edited file": {func(f *Facts, _ *Want) { f.Config["main.tf"] = Digest{8} }, fault.PlanConfigMismatch,
			`"prod/main.tf" of digest 0100000000000000…, found 0800000000000000…`},
		"one more file": {func(f *Facts, _ *Want) { f.Config["evil.tf"] = Digest{8} }, fault.PlanConfigMismatch,
			`expected no file "prod/evil.tf"`},
		"a file less": {func(_ *Facts, w *Want) { w.Config["prod/more.tf.json"] = Digest{8} },
			fault.PlanConfigMismatch, `expected the file "prod/more.tf.json", found none`},
		"a file of a module less": {func(_ *Facts, w *Want) { w.Config["shared/more.tofu"] = Digest{8} },
			fault.PlanConfigMismatch, `expected the file "shared/more.tofu", found none`},
		"out of the root": {func(f *Facts, _ *Want) { f.Config["../../etc/x.tf"] = Digest{8} },
			fault.PlanConfigMismatch, `expected no file "../etc/x.tf"`},
		"preferred by OpenTofu": {func(f *Facts, w *Want) {
			delete(f.Config, "main.tf")
			f.Config["main.tofu"], w.Config["prod/main.tofu"] = Digest{8}, Digest{8}
		}, "", ""},
		"not read by Terraform": {func(f *Facts, w *Want) {
			f.Tool, w.Tool, w.Config["prod/main.tofu"] = "terraform", "terraform", Digest{8}
		}, "", ""},
		"other changes": {func(_ *Facts, w *Want) { w.Outline = &Digest{1} }, fault.PlanChangesMismatch,
			"found others"},
		"the same changes": {func(f *Facts, w *Want) { w.Outline = &f.Outline }, "", ""},
		"other lock file": {func(f *Facts, _ *Want) { f.LockFile = Digest{8} }, fault.PlanLockMismatch,
			"expected a lock file of digest"},
		"other tool": {func(f *Facts, _ *Want) { f.Tool = "terraform" }, fault.PlanToolMismatch,
			"expected opentofu 1.12.6, found terraform 1.12.6"},
		"other version": {func(f *Facts, _ *Want) { f.ToolVersion = "1.12.5" }, fault.PlanToolMismatch,
			"found opentofu 1.12.5"},
		"a tool without name": {func(f *Facts, _ *Want) { f.Tool = "" }, "", ""},
		"other backend": {func(f *Facts, _ *Want) { f.Backend.Type = "local" }, fault.PlanBackendMismatch,
			`found "local"`},
		"other tool workspace": {func(f *Facts, _ *Want) { f.Backend.Workspace = "b" }, fault.PlanBackendMismatch, `"b"`},
		"settings": {func(f *Facts, _ *Want) { f.Backend.Set = []string{"address"} }, fault.PlanBackendMismatch,
			"found address"},
		"credentials": {func(f *Facts, _ *Want) {
			f.Backend.Set, f.Backend.Credentials = []string{"password"}, []string{"password"}
		}, fault.PlanCredentials, "the backend's password are"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			facts, want := matching()
			test.edit(&facts, &want)
			err := facts.Match(want)
			if test.code == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !fault.Is(err, test.code) || !strings.Contains(err.Error(), test.rule) {
				t.Errorf("%v, want %s with %q", err, test.code, test.rule)
			}
		})
	}
}

func TestMatchListsEveryPart(t *testing.T) {
	facts, want := matching()
	facts.Prior.Serial, facts.ToolVersion, facts.LockFile = 9, "0", Digest{8}
	facts.Config = maps.Clone(facts.Config)
	facts.Config["main.tf"], facts.Config["a~b/c.tf"] = Digest{8}, Digest{8}
	err, ok := errors.AsType[*fault.Error](facts.Match(want))
	if !ok {
		t.Fatal(err)
	}
	var pointers []string
	for _, d := range err.Details {
		pointers = append(pointers, d.Pointer)
	}
	if diff := cmp.Diff([]string{"/state", "/config/prod~1a~0b~1c.tf", "/config/prod~1main.tf", "/lock_file", "/tool"},
		pointers); diff != "" {
		t.Error(diff)
	}
}

// TestLockFileDigest: what the tools rewrite is the same, what pins providers is not.
func TestLockFileDigest(t *testing.T) {
	rewritten := "# This file is maintained automatically by \"tofu init\".\n\nprovider " +
		"\"registry.opentofu.org/hashicorp/time\" {\n  version     = \"0.14.2\"\n  hashes = [\n    " +
		"\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n"
	rewritten = strings.Replace(rewritten, "  ]\n", "    \"zh:b#c\",\n    \"zh:d]\",\n  ]\n", 1)
	byHand := strings.Replace(providerLock, "  hashes = [\n", "  hashes = [\"zh:d]\",\n  \"zh:b#c\",  # mine\n", 1)
	if LockFileDigest([]byte(byHand)) != LockFileDigest([]byte(rewritten)) {
		t.Error("comments, white space or order count")
	}
	for _, other := range []string{strings.Replace(rewritten, "0.14.2", "0.14.3", 1),
		strings.Replace(rewritten, "h1:A", "h1:B", 1), rewritten + rewritten,
		strings.Replace(rewritten, "zh:b#c", "zh:b#d", 1), strings.Replace(rewritten, "  ]", "", 1),
		strings.Replace(rewritten, "hashes", "others", 1)} {
		if LockFileDigest([]byte(other)) == LockFileDigest([]byte(rewritten)) {
			t.Errorf("%s is the same", other)
		}
	}
	if LockFileDigest([]byte("# nothing\n")) != NoLockFile() {
		t.Error("a lock file without providers counts")
	}
}

func TestBackendAttributes(t *testing.T) {
	packed := []byte("\x84\xa7address\xb6http://u:p@host/a?b=cd\xa8password\xc0\xa7headers\x81\xa1a\xa1b\xa9retry_max\x02")
	var b Backend
	if err := b.readAttributes(packed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Backend{Set: []string{"address", "headers", "retry_max"},
		Credentials: []string{"address", "headers"}}, b); diff != "" {
		t.Error(diff)
	}
	for i := range packed {
		if err := new(Backend).readAttributes(packed[:i]); err == nil {
			t.Errorf("the first %d bytes are whole", i)
		}
	}
	if err := new(Backend).readAttributes(bytes.Repeat([]byte{0x91}, 1000)); err == nil {
		t.Error("a thousand arrays in each other are read")
	}
}

// TestOutline reads a plan of one change, of which each test replaces a part.
func TestOutline(t *testing.T) {
	const head = "\x08\x03j\x00r\x01x"
	field := func(number int, text string) string {
		return string([]byte{byte(number<<3 | 2), byte(len(text))}) + text
	}
	outlineOf := func(changes ...string) (Digest, error) {
		plan := head
		for _, change := range changes {
			plan += field(3, change)
		}
		var f Facts
		err := f.readPlan(strings.NewReader(plan))
		return f.Outline, err
	}
	address, create := field(13, "t.a"), field(9, "\x08\x01")
	want := outline.Set{}
	want.Add(outline.Change{Address: "t.a", Actions: "create"})
	if got, err := outlineOf(address + field(14, "t.a") + create + field(10, "private")); got != want.Sum() || err != nil {
		t.Errorf("%x, %v", got, err)
	}
	seen := map[Digest]bool{want.Sum(): true}
	for _, change := range []string{field(13, "t.b") + create, address + field(9, ""), address + field(9, "\x08\x05"),
		address + field(14, "t.b") + create,
		address + field(7, "d") + create, address + field(9, "\x08\x01"+field(5, ""))} {
		got, err := outlineOf(change)
		if seen[got] || err != nil {
			t.Errorf("%q: %x, %v", change, got, err)
		}
		seen[got] = true
	}
	for _, change := range []string{"", address, create, address + address + create, address + create + create, address +
		field(9, "\x08\x04"),
		address + field(9, "\x08\x01\x08\x05"), address + field(9, "\x0a\x00"), address + "\x4a\x7f"} {
		if _, err := outlineOf(change); !fault.Is(err, fault.PlanFileInvalid) {
			t.Errorf("%q: %v", change, err)
		}
	}
}
