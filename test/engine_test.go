//go:build e2e

package test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/suite"
)

// engineSources names the providers, at the registry that all clients know them under.
const engineSources = `
terraform {
  required_providers {
    time  = { source = "registry.terraform.io/hashicorp/time" }
    local = { source = "registry.terraform.io/hashicorp/local" }
  }
}
`

// engineCases are configurations that the engine and the clients have to agree on. The key "next" of a case,
// if there is one, replaces main.tf after the first apply.
func engineCases() map[string]map[string]string {
	all := shelfCases()
	maps.Copy(all, map[string]map[string]string{
		"values": {"main.tf": engineSources + `
variable "names" {
  type    = set(string)
  default = ["a", "b"]
}
variable "size" {
  type = number
  validation {
    condition     = var.size > 0
    error_message = "The size is a positive number."
  }
}
locals {
  when  = time_static.start.rfc3339
  upper = { for n in var.names : n => upper(n) }
}
resource "time_static" "start" {
  rfc3339 = "2024-01-02T03:04:05Z"
}
resource "time_offset" "later" {
  base_rfc3339 = local.when
  offset_days  = var.size
}
resource "local_file" "each" {
  for_each = var.names
  filename = "${path.module}/out-${each.key}.txt"
  content  = "${local.upper[each.key]} ${time_offset.later.rfc3339}\n"
}
resource "terraform_data" "n" {
  count            = 2
  input            = { n = count.index, at = local.when, list = [for i in range(3) : i * 2] }
  triggers_replace = [time_static.start.unix]
}
output "at" { value = time_offset.later.rfc3339 }
output "numbers" { value = terraform_data.n[*].output.n }
`, "terraform.tfvars": "size = 3\n"},
		"modules": {"main.tf": engineSources + `
module "store" {
  source   = "./store"
  for_each = { one = "first", two = "second" }
  name     = each.key
  text     = each.value
}
data "local_file" "back" {
  filename   = module.store["one"].path
  depends_on = [module.store]
}
output "text" { value = data.local_file.back.content }
`, "store/main.tf": `
terraform {
  required_providers {
    local = { source = "registry.terraform.io/hashicorp/local" }
  }
}
variable "name" { type = string }
variable "text" {
  type     = string
  nullable = false
}
resource "local_file" "this" {
  filename = "${path.root}/store-${var.name}.txt"
  content  = templatefile("${path.module}/text.tftpl", { text = var.text })
}
output "path" { value = local_file.this.filename }
`, "store/text.tftpl": "%{ if true }it is ${text}%{ endif }\n"},
		"sensitive": {"main.tf": engineSources + `
variable "secret" {
  type      = string
  default   = "hush"
  sensitive = true
}
resource "local_file" "hidden" {
  filename          = "hidden.txt"
  sensitive_content = "${var.secret}!"
}
resource "local_file" "marked" {
  filename = "marked.txt"
  content  = var.secret
}
resource "terraform_data" "kept" {
  input = { secret = var.secret, plain = 1 }
}
output "secret" {
  value     = var.secret
  sensitive = true
}
`},
		"lifecycle": {"main.tf": engineSources + `
resource "time_static" "old" {
  rfc3339 = "2024-01-02T03:04:05Z"
}
resource "terraform_data" "first" {
  input            = "one"
  triggers_replace = "one"
  lifecycle {
    create_before_destroy = true
  }
}
resource "local_file" "user" {
  filename = "user-${terraform_data.first.id}.txt"
  content  = terraform_data.first.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "gone" {
  input = time_static.old.rfc3339
}
resource "terraform_data" "kept" {
  input = "before"
  lifecycle {
    ignore_changes = [input]
  }
}
`, "next": engineSources + `
moved {
  from = time_static.old
  to   = time_static.new
}
resource "time_static" "new" {
  rfc3339 = "2024-01-02T03:04:05Z"
}
resource "terraform_data" "first" {
  input            = "two"
  triggers_replace = "two"
  lifecycle {
    create_before_destroy = true
  }
}
resource "local_file" "user" {
  filename = "user-${terraform_data.first.id}.txt"
  content  = terraform_data.first.id
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "kept" {
  input = "after"
  lifecycle {
    ignore_changes       = [input]
    replace_triggered_by = [terraform_data.first]
  }
}
`},
	})
	return all
}

// TestEngineAgreesWithClients applies each configuration with the engine, and has OpenTofu and Terraform
// find nothing to change in what it made; then the other way round; and compares their plans.
func TestEngineAgreesWithClients(t *testing.T) {
	suite.Deep(t)
	for name, files := range engineCases() {
		for _, client := range []string{"TOFU_BIN", "TERRAFORM_BIN"} {
			if only := files["only"]; only != "" && only != client {
				continue
			}
			t.Run(name+"/"+strings.ToLower(strings.TrimSuffix(client, "_BIN")), func(t *testing.T) {
				t.Parallel()
				t.Run("engine first", func(t *testing.T) {
					w := newEngineWorld(t, client, files)
					w.agreeOnPlans()
					w.engine("apply", "--auto-approve")
					w.client("init", "-input=false")
					w.client("plan", "-input=false", "-detailed-exitcode")
					w.next()
					w.engine("apply", "--auto-approve")
					w.client("plan", "-input=false", "-detailed-exitcode")
					w.client("destroy", "-input=false", "-auto-approve")
				})
				t.Run("client first", func(t *testing.T) {
					w := newEngineWorld(t, client, files)
					w.client("init", "-input=false")
					w.client("apply", "-input=false", "-auto-approve")
					w.engine("plan", "--detailed-exitcode")
					w.next()
					w.client("apply", "-input=false", "-auto-approve")
					w.engine("plan", "--detailed-exitcode")
					w.engine("destroy", "--auto-approve")
				})
			})
		}
	}
}

// engineWorld is a folder with a configuration, and what works on it.
type engineWorld struct {
	t          *testing.T
	dir        string
	clientPath string
	environ    []string
	later      string
}

func newEngineWorld(t *testing.T, client string, files map[string]string) *engineWorld {
	t.Helper()
	mirror := os.Getenv("PROVIDERS_MIRROR")
	w := &engineWorld{t: t, dir: t.TempDir(), clientPath: os.Getenv(client), later: files["next"]}
	rc := filepath.Join(t.TempDir(), "cli.tfrc")
	w.write(rc, "provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n")
	w.environ = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"HOLDFAST_ENGINE_PROVIDERS="+mirror)
	for name, text := range files {
		if name != "next" && name != "only" {
			w.write(filepath.Join(w.dir, name), text)
		}
	}
	w.engine("init")
	return w
}

func (w *engineWorld) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// next puts the case's second configuration in place, and compares what both plan of it.
func (w *engineWorld) next() {
	w.t.Helper()
	if w.later == "" {
		return
	}
	w.write(filepath.Join(w.dir, "main.tf"), w.later)
	w.agreeOnPlans()
}

// agreeOnPlans compares the addresses and actions of both plans.
func (w *engineWorld) agreeOnPlans() {
	w.t.Helper()
	w.client("init", "-input=false")
	w.client("plan", "-input=false", "-out", "compared.tfplan")
	theirs, ours := w.client("show", "-json", "compared.tfplan"), w.engine("plan", "--json")
	if d := cmp.Diff(actionsOf(w.t, theirs), actionsOf(w.t, ours)); d != "" {
		w.t.Errorf("the plans differ (- client, + engine):\n%s", d)
	}
	if w.clientPath == os.Getenv("TOFU_BIN") { // Terraform's plans are of an earlier version, with fewer members
		plansAgree(w.t, theirs, ours)
	}
}

// actionsOf lists what a plan does by address, and by output.
func actionsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var plan struct {
		ResourceChanges []struct {
			Address string
			Change  struct{ Actions []string }
		} `json:"resource_changes"`
		OutputChanges map[string]struct{ Actions []string } `json:"output_changes"`
	}
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	all := map[string]string{}
	for _, r := range plan.ResourceChanges {
		all[r.Address] = strings.Join(r.Change.Actions, ",")
	}
	for name, o := range plan.OutputChanges {
		all["output."+name] = strings.Join(o.Actions, ",")
	}
	return maps.Clone(all)
}

func (w *engineWorld) engine(args ...string) string {
	w.t.Helper()
	return w.run(os.Getenv("HOLDFAST_BIN"), append([]string{"engine"}, args...)...)
}

// engineFails is what the engine says when it has to fail.
func (w *engineWorld) engineFails(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), os.Getenv("HOLDFAST_BIN"), append([]string{"engine"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.environ
	out, err := cmd.CombinedOutput()
	if err == nil {
		w.t.Fatalf("engine %v does it: %s", args, out)
	}
	return string(out)
}

func (w *engineWorld) client(args ...string) string {
	w.t.Helper()
	return w.run(w.clientPath, args...)
}

func (w *engineWorld) run(program string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	cmd.Dir, cmd.Env = w.dir, w.environ
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		state, _ := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
		w.t.Fatalf("%s %s: %v\n%s\n%s\n%s", filepath.Base(program), strings.Join(args, " "), err, out, said.String(), state)
	}
	return string(out)
}
