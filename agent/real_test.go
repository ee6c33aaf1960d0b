package agent_test

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

const oneResource = `
variable "password" { sensitive = true }
resource "terraform_data" "one" {
  input = "hello"
  provisioner "local-exec" {
    command = "echo the password is $PASSWORD; echo HOME is $HOME"
    environment = { PASSWORD = var.password }
  }
}
output "greeting" { value = terraform_data.one.output }
`

// A run with the real tools: what is applied is what was planned, and nothing secret is in any
// file or log.
func TestPlanAndApplyWithRealTools(t *testing.T) {
	suite.Deep(t)
	for _, tool := range []func(*testing.T) oneTool{tofu, terraform} {
		found := tool(t)
		t.Run(found.name, func(t *testing.T) {
			r := newRig(t, found, map[string]string{"infra/main.tf": oneResource})
			r.withShims()
			r.server.Template.Directory = "infra"
			r.start()
			run := r.server.Queue("prod/network", "apply")
			if last := r.ended(run, "plan"); last.Phase != "show" || last.Outcome != "succeeded" {
				t.Fatalf("the plan ends with %+v\n%s", last, r.server.Log(run, "plan"))
			}
			if !strings.Contains(string(r.server.Artefact(run, "plan_json")), `"terraform_data.one"`) {
				t.Error("the plan's JSON doesn't have the resource")
			}
			r.server.Approve(run)
			if last := r.ended(run, "apply"); last.Phase != "output" || last.Outcome != "succeeded" {
				t.Fatalf("the apply ends with %+v\n%s", last, r.server.Log(run, "apply"))
			}
			if !strings.Contains(string(r.server.Artefact(run, "outputs")), `"hello"`) {
				t.Errorf("the outputs are %s", r.server.Artefact(run, "outputs"))
			}
			for _, kind := range []string{"json_log", "plan", "outputs"} {
				if bytes.Contains(unzipped(t, r.server.Artefact(run, kind)), []byte(r.server.Token(run))) {
					t.Errorf("the artefact %s has the run's token", kind)
				}
			}
			for _, stage := range []string{"plan", "apply"} {
				if log := r.server.Log(run, stage); strings.Contains(log, "battery") {
					t.Errorf("the log of the %s has the secret:\n%s", stage, log)
				}
			}
			r.end()
			if left, _ := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*")); len(left) > 0 {
				t.Errorf("there are run folders left: %v", left)
			}
		})
	}
}

// unzipped is what is in all files of an archive, or the bytes themselves if they are none.
func unzipped(t *testing.T, raw []byte) []byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return raw
	}
	var all []byte
	for _, file := range archive.File {
		f, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}
