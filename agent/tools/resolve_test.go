package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

func files(pairs ...string) fstest.MapFS {
	all := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return all
}

func requires(constraint string) string {
	return "terraform {\n  required_version = \"" + constraint + "\"\n}\n"
}

func TestResolve(t *testing.T) {
	s, _ := newStore(t)
	add(t, s, tools.OpenTofu, tofu, "1.9.0", "1.10.3", "1.12.5", "1.12.6", "1.13.0-beta1")
	add(t, s, tools.Terraform, terraform, "1.4.6", "1.5.7")
	add(t, s, tools.Terragrunt, terragrunt, "0.55.1", "0.88.0")
	for what, c := range map[string]struct {
		want  tools.Want
		found string
	}{
		"nothing asked":           {tools.Want{Tool: tools.OpenTofu}, "1.12.6"},
		"the workspace's version": {tools.Want{Tool: tools.OpenTofu, Constraint: "1.10.3"}, "1.10.3"},
		"the workspace's constraint": {tools.Want{Tool: tools.OpenTofu, Constraint: "~> 1.12.0, != 1.12.6"},
			"1.12.5"},
		"a prerelease by its name": {tools.Want{Tool: tools.OpenTofu, Constraint: "1.13.0-beta1"}, "1.13.0-beta1"},
		"a version file": {tools.Want{Tool: tools.OpenTofu,
			Files: files(".opentofu-version", "# ours\n v1.10.3 # pinned\n")}, "1.10.3"},
		"another tool's version file": {tools.Want{Tool: tools.OpenTofu, Files: files(".terraform-version", "1.10.3")},
			"1.12.6"},
		"the nearest version file": {tools.Want{Tool: tools.Terraform, Directory: "a/b",
			Files: files(".terraform-version", "1.5.7", "a/.terraform-version", "1.4.6", "a/b/main.tf", "")}, "1.4.6"},
		"latest, with an expression": {tools.Want{Tool: tools.OpenTofu,
			Files: files(".opentofu-version", "latest:^1\\.10")}, "1.10.3"},
		"latest": {tools.Want{Tool: tools.OpenTofu,
			Files: files(".opentofu-version", "latest-allowed\n", "main.tf", requires("< 1.12"))}, "1.10.3"},
		"required_version": {tools.Want{Tool: tools.OpenTofu,
			Files: files("versions.tf", requires("~> 1.9.0"))}, "1.9.0"},
		"that of a directory": {tools.Want{Tool: tools.OpenTofu, Directory: "./infra/",
			Files: files("main.tf", requires("~> 1.9.0"), "infra/main.tf", requires("< 1.12"))}, "1.10.3"},
		"all of them": {tools.Want{Tool: tools.OpenTofu, Constraint: ">= 1.10",
			Files: files(".opentofu-version", "!= 1.12.6", "a.tf", requires("< 2"), "b.tf", requires("!= 1.12.5"))}, "1.10.3"},
		"in JSON": {tools.Want{Tool: tools.Terraform,
			Files: files("main.tf.json", `{"terraform":[{"backend":{}},{"required_version":"< 1.5"}]}`)}, "1.4.6"},
		"in JSON, one block": {tools.Want{Tool: tools.Terraform,
			Files: files("main.tf.json", `{"terraform":{"required_version":"< 1.5"}}`)}, "1.4.6"},
		"a .tofu file in the place of a .tf": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", requires("> 9"), "main.tofu", requires("~> 1.10.0"))}, "1.10.3"},
		"which Terraform does not read": {tools.Want{Tool: tools.Terraform,
			Files: files("main.tf", requires("< 1.5"), "main.tofu", requires("> 9"))}, "1.4.6"},
		"Terragrunt": {tools.Want{Tool: tools.Terragrunt,
			Files: files(".terragrunt-version", "0.55.1", "main.tf", requires("> 9"))}, "0.55.1"},
		"what only looks like it": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", lookalikes, "notes.txt", requires("> 9"), ".hidden.tf", requires("> 9"), "old.tf~",
				requires("> 9"))}, "1.12.6"},
		"behind a comment, on one line": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", "/* a */ terraform { required_version = \"~> 1.9.0\" }")}, "1.9.0"},
		"between others": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", "locals {\n a = \"${upper(\"x\")}\"\n}\nterraform {\n backend \"http\" {}\n # why\n "+
				"required_version = \"~> 1.9.0\" # so\n}\n")}, "1.9.0"},
		"a file too large to be looked into": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", requires("> 9")+strings.Repeat("#", 300<<10))}, "1.12.6"},
		"brackets without end": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", "required_version = "+strings.Repeat("[", 200<<10))}, "1.12.6"},
		"bytes that are no text": {tools.Want{Tool: tools.OpenTofu,
			Files: files("main.tf", "required_version\xff\x00\"${")}, "1.12.6"},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := s.Resolve(t.Context(), c.want)
			if err != nil || got.Tool.Version != c.found || got.Tool.Name != c.want.Tool {
				t.Errorf("found %s %s, %v; want %s", got.Tool.Name, got.Tool.Version, err, c.found)
			}
		})
	}
}

const lookalikes = `
# required_version = "> 9"
variable "x" {
  terraform {
    required_version = "> 9"
  }
}
output "terraform" {
  required_version = "> 9"
}
terraform {
  backend "http" {
    required_version = "> 9"
  }
  x = <<-EOT
    required_version = "> 9"
  EOT
}
required_version = "> 9"
`

// Who reads the answer learns which rule decided.
func TestResolveSaysWhatRuled(t *testing.T) {
	s, _ := newStore(t)
	add(t, s, tools.OpenTofu, tofu, "1.9.0", "1.10.3", "1.12.6")
	want := tools.Want{Tool: tools.OpenTofu, Constraint: "< 1.12", Directory: "infra",
		Files: files("infra/a.tf", "\n"+requires("!= 1.10.3"), ".opentofu-version", "> 1")}
	got, err := s.Resolve(t.Context(), want)
	must(t, err)
	rules := []tools.Rule{
		{Source: "the workspace", Text: "< 1.12", Excluded: []string{"1.12.6"}},
		{Source: ".opentofu-version", Text: "> 1"},
		{Source: "infra/a.tf:3", Text: "!= 1.10.3", Excluded: []string{"1.10.3"}},
	}
	if diff := cmp.Diff(rules, got.Rules[:3], cmpopts.IgnoreUnexported(tools.Rule{})); diff != "" ||
		got.Tool.Version != "1.9.0" {
		t.Errorf("chose %s (-want +got):\n%s", got.Tool.Version, diff)
	}
	want.Constraint = "> 1.10"
	_, err = s.Resolve(t.Context(), want)
	must(t, err)
	want.Constraint = "1.10.3"
	_, err = s.Resolve(t.Context(), want)
	wantFault(t, err, fault.ToolUnavailable)
	for _, part := range []string{`the workspace asks for "1.10.3", which excludes 1.12.6, 1.9.0`,
		`infra/a.tf:3 asks for "!= 1.10.3", which excludes 1.10.3`, "installed: 1.12.6, 1.10.3, 1.9.0"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q has no %q", err, part)
		}
	}
}

// What can't be found is told before there is a configuration, unless that or a mirror may help.
func TestOffers(t *testing.T) {
	s, _ := newStore(t)
	wantFault(t, s.Offers(t.Context(), tools.OpenTofu, ""), fault.ToolUnavailable)
	add(t, s, tools.OpenTofu, tofu, "1.13.0-beta1")
	add(t, s, tools.Terraform, terraform, "1.5.7")
	must(t, s.Offers(t.Context(), tools.OpenTofu, ""))
	must(t, s.Offers(t.Context(), tools.Terraform, "~> 1.5.0"))
	wantFault(t, s.Offers(t.Context(), tools.Terraform, "1.5.8"), fault.ToolUnavailable)
	wantFault(t, s.Offers(t.Context(), tools.Terraform, "newest"), fault.ToolConstraintInvalid)
	m := newMirror(t)
	must(t, m.store.Offers(t.Context(), tools.OpenTofu, "1.12.6"))
	wantFault(t, m.store.Offers(t.Context(), tools.Terragrunt, ""), fault.ToolUnavailable)
}

func TestResolveRefuses(t *testing.T) {
	s, _ := newStore(t)
	_, err := s.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu})
	wantFault(t, err, fault.ToolUnavailable)
	if !strings.Contains(err.Error(), "installed: none") {
		t.Errorf("%q does not say that nothing is installed", err)
	}
	add(t, s, tools.OpenTofu, tofu, "1.13.0-beta1")
	_, err = s.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu})
	wantFault(t, err, fault.ToolUnavailable)
	for what, want := range map[string]tools.Want{
		"no constraint":        {Constraint: "newest"},
		"a long one":           {Constraint: strings.Repeat("> 1, ", 100) + "> 1"},
		"in a version file":    {Files: files(".opentofu-version", "one")},
		"an expression":        {Files: files(".opentofu-version", "latest:(")},
		"a large version file": {Files: files(".opentofu-version", strings.Repeat("1", 5000))},
		"in a configuration":   {Files: files("main.tf", requires("one"))},
		"a computed one":       {Files: files("main.tf", "terraform {\n required_version = var.x\n}\n")},
		"a template":           {Files: files("main.tf", "terraform {\n required_version = \"> ${1}\"\n}\n")},
		"no text in JSON":      {Files: files("main.tf.json", `{"terraform":{"required_version":1}}`)},
		"too many":             {Files: files("main.tf", strings.Repeat(requires("> 1"), 101))},
		"no directory":         {Directory: "infra", Files: files("main.tf", "")},
		"a way out":            {Directory: "../x", Files: files("main.tf", "")},
	} {
		t.Run(what, func(t *testing.T) {
			want.Tool = tools.OpenTofu
			_, err := s.Resolve(t.Context(), want)
			wantFault(t, err, fault.ToolConstraintInvalid)
		})
	}
}

// A configuration's links are not followed: they may lead to the files of others.
func TestResolveFollowsNoLinks(t *testing.T) {
	s, _ := newStore(t)
	add(t, s, tools.OpenTofu, tofu, "1.12.6")
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("hunter2"), 0o600))
	must(t, os.Symlink(secret, filepath.Join(dir, ".opentofu-version")))
	_, err := s.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu, Files: os.DirFS(dir)})
	wantFault(t, err, fault.ToolConstraintInvalid)
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error has what the link leads to: %v", err)
	}
}
