package changes

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/plantest"
	"github.com/holdfast/holdfast/runs/planfile"
)

const (
	before = `
variable "password" {
  sensitive = true
  default   = "the-Password-of-all"
}
variable "quiet" {
  default = "quiet-but-secret"
}
resource "terraform_data" "kept" {
  input = { password = var.password, size = 1 }
}
resource "terraform_data" "updated" {
  input = "one"
}
resource "terraform_data" "replaced" {
  triggers_replace = ["one"]
}
resource "terraform_data" "gone" {
  count = 2
}
resource "terraform_data" "old_name" {
  input = 12345
}
resource "terraform_data" "quiet" {
  input = "https://user:${var.quiet}@host"
}
output "gone" {
  value = "one"
}
output "secret" {
  value     = var.password
  sensitive = true
}
`
	after = `
variable "password" {
  sensitive = true
  default   = "the-Password-of-all"
}
variable "quiet" {
  default = "quiet-but-secret"
}
resource "terraform_data" "kept" {
  input = { password = var.password, size = 2 }
}
resource "terraform_data" "updated" {
  input = "two ${terraform_data.kept.output.password}"
}
resource "terraform_data" "replaced" {
  triggers_replace = ["two"]
}
moved {
  from = terraform_data.old_name
  to   = terraform_data.new_name
}
resource "terraform_data" "new_name" {
  input = 12345
}
resource "terraform_data" "created" {
  input = ["x", var.password]
}
resource "terraform_data" "quiet" {
  input = "http://user:${var.quiet}@host"
}
import {
  to = terraform_data.imported
  id = "an-id"
}
resource "terraform_data" "imported" {
}
output "secret" {
  value     = var.password
  sensitive = true
}
output "new" {
  value = terraform_data.created.id
}
check "size" {
  assert {
    condition     = terraform_data.kept.input.size > 5
    error_message = "too small with ${terraform_data.kept.output.password}"
  }
}
`
)

// forgetting is what only OpenTofu of the two knows.
const forgetting = `
removed {
  from = terraform_data.gone
}
`

func changed(t *testing.T, tool plantest.Tool) *plantest.Folder {
	folder := tool.New(t, map[string]string{"main.tf": before})
	folder.Apply()
	folder.Write(map[string]string{"main.tf": after})
	return folder
}

func parse(t *testing.T, show []byte, options Options) *Plan {
	t.Helper()
	plan, err := Parse(bytes.NewReader(show), options)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestRealCounts compares the counts with the line that the tools print themselves.
func TestRealCounts(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			folder := changed(t, tool)
			wantSummary(t, folder)
			wantSummary(t, folder, "-destroy")
			wantSummary(t, folder, "-target=terraform_data.updated", "-target=terraform_data.new_name",
				"-target=terraform_data.old_name")
			if tool.Name == "opentofu" {
				folder.Write(map[string]string{"forget.tf": forgetting})
				wantSummary(t, folder)
			}
			folder.Apply()
			wantSummary(t, folder)
		})
	}
}

func wantSummary(t *testing.T, folder *plantest.Folder, args ...string) {
	t.Helper()
	said := folder.Run(append([]string{"plan", "-json", "-lock=false", "-out=the.plan"}, args...)...)
	plan := parse(t, folder.Run("show", "-json", "the.plan"), Options{})
	file := folder.Read("the.plan")
	facts, err := planfile.Inspect(bytes.NewReader(file), int64(len(file)), planfile.Limits{})
	if err != nil || facts.Outline != plan.Outline {
		t.Errorf("%v: the plan file does not do what its JSON says: %v", args, err)
	}
	var summary string
	for line := range bytes.Lines(said) {
		if bytes.Contains(line, []byte(`"type":"change_summary"`)) {
			var m struct {
				Text string `json:"@message"`
			}
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			summary = m.Text
		}
	}
	if got := plan.Counts.String(); got != summary {
		t.Errorf("%v: the plan counts %q, the tool %q", args, got, summary)
	}
	if human := folder.Run("plan", "-lock=false", "-no-color", "-input=false"); len(args) == 0 && plan.Counts.Add > 0 &&
		!strings.Contains(string(human), summary) {
		t.Errorf("the tool's text lacks %q:\n%s", summary, human)
	}
}

func TestRealChanges(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			_, show := changed(t, tool).Plan()
			plan := parse(t, show, Options{})
			got := map[string]string{}
			for _, c := range plan.Changes {
				line := strings.Join(c.Actions, ",")
				if c.PreviousAddress != "" {
					line += " from " + c.PreviousAddress
				}
				if c.Importing != nil {
					line += " importing " + c.Importing.ID
				}
				if len(c.ReplacePaths) > 0 {
					line += " because of " + strings.Join(c.ReplacePaths, ",")
				}
				if c.ActionReason != "" {
					line += " " + c.ActionReason
				}
				got[c.Address] = line
			}
			want := map[string]string{
				"terraform_data.created":  "create",
				"terraform_data.gone[0]":  "delete delete_because_no_resource_config",
				"terraform_data.gone[1]":  "delete delete_because_no_resource_config",
				"terraform_data.imported": "no-op importing an-id",
				"terraform_data.kept":     "update",
				"terraform_data.new_name": "no-op from terraform_data.old_name",
				"terraform_data.quiet":    "update",
				"terraform_data.replaced": "delete,create because of triggers_replace replace_because_cannot_update",
				"terraform_data.updated":  "update",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			wantCounts := Counts{Add: 2, Change: 3, Destroy: 3, Replace: 1, Import: 1, Move: 1, Outputs: 2}
			if diff := cmp.Diff(wantCounts, plan.Counts); diff != "" {
				t.Error(diff)
			}
			if plan.ToolVersion != tool.Version || len(plan.Outputs) != 2 || len(plan.Checks) != 1 ||
				plan.Checks[0].Status != "unknown" && plan.Checks[0].Status != "fail" {
				t.Errorf("%s %+v %+v", plan.ToolVersion, plan.Outputs, plan.Checks)
			}
		})
	}
}

// TestRealSecrets wants no sensitive value in what may be shown, as a text or within one, and
// the rest as it was.
func TestRealSecrets(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			_, show := changed(t, tool).Plan()
			for _, secret := range []string{"the-Password-of-all", "quiet-but-secret"} {
				if !bytes.Contains(show, []byte(secret)) {
					t.Errorf("the plan lacks %q, so nothing is tested", secret)
				}
			}
			plan := parse(t, show, Options{Sensitive: []string{"quiet"}})
			var redacted bytes.Buffer
			if err := plan.Redact(&redacted, bytes.NewReader(show)); err != nil {
				t.Fatal(err)
			}
			all, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"the redacted JSON": redacted.String(), "the changes": string(all),
				"a log": fmt.Sprintf("%v %+v %#v %s %+v %#v", plan, plan, plan, plan, *plan, *plan)} {
				for _, secret := range []string{"the-Password-of-all", "quiet-but-secret"} {
					if i := strings.Index(text, secret); i >= 0 {
						t.Errorf("%s have %q: %s", name, secret, text[max(0, i-200):i])
					}
				}
			}
			again := parse(t, redacted.Bytes(), Options{})
			if diff := cmp.Diff(plan.Counts, again.Counts); diff != "" {
				t.Error(diff)
			}
			for _, kept := range []string{`"size":2`, `12345`, Masked, `"terraform_data.kept"`, `"sensitive":true`} {
				if !strings.Contains(redacted.String(), kept) {
					t.Errorf("the redacted JSON lacks %s", kept)
				}
			}
		})
	}
}

func keyed(data ...[]byte) [32]byte {
	h := hmac.New(sha256.New, []byte("a key"))
	for _, d := range data {
		fmt.Fprintf(h, "%d:%s", len(d), d)
	}
	return [32]byte(h.Sum(nil))
}

// TestRealDigests: a second plan of the same is equal, whatever serial and time it has; another
// secret makes it different.
func TestRealDigests(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			folder := changed(t, tool)
			_, show := folder.Plan()
			first := parse(t, show, Options{})
			folder.Backend.Edit(func(state string) string { return strings.Replace(state, `"serial": `, `"serial": 10`, 1) })
			_, show = folder.Plan()
			second := parse(t, show, Options{})
			if first.Digest(keyed) != second.Digest(keyed) {
				t.Error("two plans of the same differ")
			}
			if ok, why := second.SubsetOf(first); !ok {
				t.Error(why)
			}
			_, show = folder.Plan("-var=password=the-Password-of-none")
			if third := parse(t, show, Options{}); first.Digest(keyed) == third.Digest(keyed) {
				t.Error("two plans with different secrets are the same")
			}
			folder.Run("plan", "-lock=false", "-out=part.plan", "-target=terraform_data.created",
				"-target=terraform_data.new_name", "-target=terraform_data.old_name")
			folder.Run("apply", "part.plan")
			_, show = folder.Plan()
			rest := parse(t, show, Options{})
			if ok, why := rest.SubsetOf(first); !ok {
				t.Error("what is left is not part of what was planned:", why)
			}
			if ok, _ := first.SubsetOf(rest); ok {
				t.Error("what was planned is part of what is left")
			}
			if rest.Digest(keyed) == first.Digest(keyed) {
				t.Error("what is left is what was planned")
			}
		})
	}
}
