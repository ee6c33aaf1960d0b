package changes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/plantest"
)

const streamed = `
variable "password" {
  sensitive = true
  default   = "the-Password-of-all"
}
resource "terraform_data" "good" {
  count = 3
  provisioner "local-exec" {
    command = "echo said by a command"
  }
}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.good]
  provisioner "local-exec" {
    command = "exit 7"
  }
}
resource "terraform_data" "never" {
  depends_on = [terraform_data.bad]
}
output "secret" {
  value     = var.password
  sensitive = true
}
output "values" {
  value = { list = tolist(["a \"b\"", "c"]), map = tomap({ "x y" = 1.5 }), none = null, yes = [true, {}], set = toset(["s"]) }
}
check "warned" {
  assert {
    condition     = length(terraform_data.good) > 5
    error_message = "too few of them"
  }
}
`

// volatile is what differs from one run to the next.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d+s\b`)

// textOf has the lines of a log that are not empty, sorted, because resources are worked on at the
// same time.
func textOf(log []byte) []string {
	var all []string
	for line := range strings.Lines(string(log)) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			all = append(all, volatile.ReplaceAllString(line, "…"))
		}
	}
	slices.Sort(all)
	return all
}

func rendered(t *testing.T, lines []byte, piece int) []byte {
	t.Helper()
	var out bytes.Buffer
	r := NewRenderer(&out, true)
	for chunk := range slices.Chunk(lines, piece) {
		if _, err := r.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRealLog runs an apply with and without -json, in two folders, and wants of the JSON the text
// that the tool prints without it.
func TestRealLog(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			good := strings.NewReplacer("exit 7", "exit 0").Replace(streamed)
			for name, config := range map[string]string{"failing": streamed, "good": good} {
				human, machine := tool.New(t, map[string]string{"main.tf": config}),
					tool.New(t, map[string]string{"main.tf": config})
				human.Plan()
				machine.Plan()
				text, _ := human.Try("apply", "-no-color", "the.plan")
				lines, _ := machine.Try("apply", "-json", "the.plan")
				want := textOf(text)
				got := slices.DeleteFunc(textOf(rendered(t, lines, 1000)), func(line string) bool {
					// The first says which tool it is; the second the tool says only with -json.
					return strings.HasPrefix(line, "OpenTofu 1.") || strings.HasPrefix(line, "Terraform 1.") ||
						strings.Contains(line, "errored after")
				})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}

func TestRealStream(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			folder := tool.New(t, map[string]string{"main.tf": streamed})
			folder.Plan()
			lines, err := folder.Try("apply", "-json", "the.plan")
			if err == nil {
				t.Fatal("the apply did not fail")
			}
			stream := NewStream()
			for line := range bytes.Lines(lines) {
				stream.Write(line)
				if bytes.Contains(line, []byte(`"apply_start"`)) && len(stream.InFlight()) == 0 {
					t.Error("nothing is in flight when something was begun")
				}
			}
			stream.Close()
			got := stream.Progress()
			if got.Tool != tool.Name || got.ToolVersion != tool.Version || got.Started != 4 || got.Completed != 3 ||
				got.Errored != 1 || len(got.Timings) != 4 || got.Errors != 1 || got.PerSecond() <= 0 {
				t.Errorf("%+v", got)
			}
			if left := stream.InFlight(); len(left) > 0 {
				t.Errorf("%+v are in flight at the end", left)
			}
			d := got.Diagnostics[slices.IndexFunc(got.Diagnostics, func(d Diagnostic) bool { return d.Severity == "error" })]
			if d.File != "main.tf" || d.Line != 14 || d.Address != "terraform_data.bad" ||
				!strings.Contains(d.Detail, "exit status 7") {
				t.Errorf("%+v", d)
			}
		})
	}
}
