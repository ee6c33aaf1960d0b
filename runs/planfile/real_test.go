package planfile

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/plantest"
)

const providerLock = `# A comment of a person.
provider "registry.opentofu.org/hashicorp/time" {
  version = "0.14.2"
  hashes = [
    "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  ]
}
`

// overrides keeps the tools from asking for the locked provider, which no resource needs.
const overrides = `provider_installation {
  dev_overrides {
    "registry.opentofu.org/hashicorp/time" = "/nowhere"
  }
}
`

func configuration() map[string]string {
	return map[string]string{
		"main.tf": "variable \"name\" {\n  default = \"one\"\n}\nresource \"terraform_data\" \"a\" {\n  input = " +
			"var.name\n}\nmodule \"net\" {\n  source = \"./net\"\n}\nmodule \"again\" {\n  source = \"./net\"\n}\n",
		"net/main.tf":    "module \"sub\" {\n  source = \"./sub\"\n}\n",
		"net/sub/x.tf":   "resource \"terraform_data\" \"x\" {\n}\n",
		"net/unread.txt": "nothing that a plan has\n",
	}
}

func digests(files map[string]string) map[string]Digest {
	all := map[string]Digest{"backend.tf": sha256.Sum256([]byte("terraform {\n  backend \"http\" {}\n}\n"))}
	for name, content := range files {
		all[name] = sha256.Sum256([]byte(content))
	}
	return all
}

func inspect(t *testing.T, file []byte) Facts {
	t.Helper()
	facts, err := Inspect(bytes.NewReader(file), int64(len(file)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// TestRealPlans makes the first and a later plan with each tool, and wants of them what is known
// of how they were made.
func TestRealPlans(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		t.Run(tool.Name, func(t *testing.T) {
			files := configuration()
			folder := tool.New(t, files)
			folder.Write(map[string]string{lockFileName: providerLock, "cli.hcl": overrides})
			folder.Env["TF_CLI_CONFIG_FILE"] = "cli.hcl"
			first, _ := folder.Plan()
			want := Want{Absent: true, Config: digests(files), LockFile: LockFileDigest([]byte(providerLock)), Tool: tool.Name,
				ToolVersion: tool.Version}
			got := inspect(t, first)
			wantFacts(t, Facts{Tool: tool.Name, ToolVersion: tool.Version, Mode: Normal,
				Backend: Backend{Type: "http", Workspace: "default"},
				Prior:   State{ToolVersion: tool.Version}}, got)
			if err := got.Match(want); err != nil {
				t.Error(err)
			}
			wantNoCredentials(t, folder, first)

			folder.Run("apply", "-no-color", "the.plan")
			second, _ := folder.Plan("-var=name=two", "-target=terraform_data.a")
			lineage, serial := stateOf(t, folder.Backend.State())
			state := State{Lineage: lineage, Serial: serial, ToolVersion: tool.Version}
			got = inspect(t, second)
			wantFacts(t, Facts{Tool: tool.Name, ToolVersion: tool.Version, Mode: Normal,
				Backend: Backend{Type: "http", Workspace: "default"},
				Prior:   state, Targets: []string{"terraform_data.a"}}, got)
			if err := got.Match(want); !fault.Is(err, fault.PlanStateMismatch) {
				t.Errorf("a plan of the second state as of the first: %v", err)
			}
			want.Absent, want.Lineage, want.Serial = false, lineage, serial
			if err := got.Match(want); err != nil {
				t.Error(err)
			}
			wantNoCredentials(t, folder, second)
			destroy, _ := folder.Plan("-destroy")
			if facts := inspect(t, destroy); facts.Mode != Destroy {
				t.Errorf("a plan to destroy is %q", facts.Mode)
			}
			refresh, _ := folder.Plan("-refresh-only")
			if facts := inspect(t, refresh); facts.Mode != RefreshOnly {
				t.Errorf("a plan to refresh is %q", facts.Mode)
			}
		})
	}
}

// wantFacts leaves out the digests, which Match is asked for.
func wantFacts(t *testing.T, want, got Facts) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Facts{}, "Config", "Modules", "LockFile", "Outline"),
		cmpopts.IgnoreUnexported(Facts{})); diff != "" {
		t.Error(diff)
	}
}

func stateOf(t *testing.T, state []byte) (lineage string, serial uint64) {
	t.Helper()
	var head struct {
		Lineage string
		Serial  uint64
	}
	if err := json.Unmarshal(state, &head); err != nil {
		t.Fatal(err)
	}
	return head.Lineage, head.Serial
}

// wantNoCredentials looks for the backend's address, user and password in everything packed.
func wantNoCredentials(t *testing.T, folder *plantest.Folder, file []byte) {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range files.File {
		r, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{folder.Backend.URL, plantest.Username, plantest.Password, "of-this-test"} {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has %q", member.Name, secret)
			}
		}
	}
}

// TestRealPlanWithCredentials gives the tool its password in the configuration, as many do.
func TestRealPlanWithCredentials(t *testing.T) {
	for _, tool := range plantest.Tools(t) {
		folder := tool.New(t, nil)
		folder.Write(map[string]string{"backend.tf": "terraform {\n  backend \"http\" {\n    password = \"" +
			plantest.Password + "\"\n    address = \"" + folder.Backend.URL + "\"\n  }\n}\n"})
		folder.Run("init", "-no-color", "-reconfigure")
		file, _ := folder.Plan()
		facts := inspect(t, file)
		if diff := cmp.Diff(Backend{Type: "http", Workspace: "default", Set: []string{"address", "password"},
			Credentials: []string{"password"}}, facts.Backend); diff != "" {
			t.Error(diff)
		}
		err := facts.Match(Want{Absent: true, Config: facts.Config, LockFile: facts.LockFile, Tool: tool.Name,
			ToolVersion: tool.Version})
		if !fault.Is(err, fault.PlanCredentials) || strings.Contains(err.Error(), plantest.Password) {
			t.Error(err)
		}
	}
}

// TestRealEncryptedPlan is about OpenTofu's plan encryption.
func TestRealEncryptedPlan(t *testing.T) {
	folder := plantest.Tools(t)[0].New(t, nil)
	folder.Write(map[string]string{"encryption.tf": `terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct horse battery staple"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
`})
	file, _ := folder.Plan()
	facts := inspect(t, file)
	if !facts.Encrypted {
		t.Fatalf("%+v", facts)
	}
	if err := facts.Match(Want{}); !fault.Is(err, fault.PlanEncrypted) {
		t.Error(err)
	}
	if err := facts.Match(Want{AllowEncrypted: true}); err != nil {
		t.Error(err)
	}
}
