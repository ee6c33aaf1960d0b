package backend_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/backend"
)

func TestWriteRefusesEveryOtherBackend(t *testing.T) {
	tests := []struct{ name, file, text, refused string }{
		{"none", "main.tf", `resource "terraform_data" "a" {}`, ""},
		{"http", "main.tf", "terraform {\n  backend \"http\" {\n    address = \"http://x\"\n  }\n}", ""},
		{"s3", "main.tf", "terraform {\n  backend \"s3\" {}\n}", `backend "s3" in line 2 of main.tf`},
		{"cloud", "main.tf", "terraform {\n  cloud {}\n}", "cloud block in line 2"},
		{"OpenTofu's own files", "main.tofu", "terraform {\n  backend \"local\" {}\n}", `backend "local"`},
		{"JSON", "main.tf.json", `{"terraform":{"backend":{"gcs":{}}}}`, `backend "gcs"`},
		{"JSON in lists", "main.tf.json", `{"terraform":[{"backend":[{"gcs":{}}]}]}`, `backend "gcs"`},
		{"OpenTofu's JSON", "x.tofu.json", `{"terraform":{"cloud":{}}}`, "cloud block"},
		{"a later override", "zz_override.tf", "terraform {\n  backend \"http\" {\n    address = \"http://evil\"\n  }\n}",
			"the backend is overridden"},
		{"override.tf", "override.tf", "terraform {\n  backend \"http\" {}\n}", "the backend is overridden"},
		{"a file in the place of ours", "holdfast_backend_override.tofu", "", "is taken"},
		{"a JSON file in the place of ours", "holdfast_backend_override.tofu.json", "{}", "is taken"},
		{"ours already", backend.File, "terraform {\n  backend \"s3\" {}\n}", ""},
		{"what is no configuration", "main.tf.bak", "terraform {\n  backend \"s3\" {}\n}", ""},
		{"within comments", "main.tf", "terraform { # one\n  /* two */ backend /* three */ \"s3\" /* four */ {\n  }\n}",
			`backend "s3" in line 2`},
		{"a word for a label", "main.tf", "terraform {\n  backend s3 {}\n}", `backend "s3"`},
		{"on one line", "main.tf", "terraform { backend \"s3\" {} }", `backend "s3"`},
		{"behind other blocks", "main.tf",
			"terraform {\n  required_providers {\n    a = { source = \"x/a\" }\n  }\n  backend \"s3\" {}\n}", `backend "s3"`},
		{"elsewhere", "main.tf",
			"resource \"x_backend\" \"cloud\" {\n  backend \"s3\" {}\n  cloud {}\n}\nlocals { terraform = { backend = {} } }",
			""},
		{"JSON in a list of roots", "main.tf.json", `[{"a":1},{"terraform":{"backend":{"gcs":{}}}}]`, `backend "gcs"`},
		{"JSON with a name twice", "main.tf.json", `{"terraform":{"backend":{"gcs":{}}},"terraform":{}}`, "is no JSON"},
		{"JSON of other things", "main.tf.json", `{"resource":{"terraform":{"cloud":{}}},"terraform":null}`, ""},
		{"a damaged one with another backend", "main.tf", "terraform {\n  backend \"s3\" {}\n}\nresource {{", `backend "s3"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, test.file), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := backend.Write(folder)
			if test.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				written, err := os.ReadFile(filepath.Join(folder, backend.File))
				if err != nil || !strings.Contains(string(written), `backend "http" {}`) {
					t.Errorf("the file has %q, %v", written, err)
				}
				return
			}
			if other, ok := errors.AsType[*backend.OtherError](err); !ok || !strings.Contains(other.Error(), test.refused) {
				t.Errorf("it is refused with %v, wanted %q", err, test.refused)
			}
		})
	}
}

// A file is hostile: none may end the stack of the process that looks into it.
func TestWriteSurvivesDeepFiles(t *testing.T) {
	const n = 10 << 20
	for name, text := range map[string]string{
		"a.tf": strings.Repeat("(", n), "b.tf": "terraform {\n" + strings.Repeat("a {\n", 100<<10) + " backend = " +
			strings.Repeat("-", 50<<10),
		"c.tf.json": strings.Repeat("[", n), "d.tf.json": strings.Repeat(`{"terraform":`, n/14),
		"e.tf": "# backend\n" + strings.Repeat("[", n),
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := backend.Write(folder)
		if _, ok := errors.AsType[*backend.OtherError](err); err != nil && !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A link in the place of the file must not lead the write elsewhere.
func TestWriteFollowsNoLink(t *testing.T) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(outside, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, backend.File)); err != nil {
		t.Fatal(err)
	}
	if err := backend.Write(folder); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(outside); string(text) != "kept" {
		t.Errorf("the file outside has %q", text)
	}
}
