package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/enclave"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// listed has what a folder's entries are: links, files or folders.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		all[e.Name()] = map[bool]string{true: "folder", false: "file"}[e.IsDir()]
		if e.Type()&os.ModeSymlink != 0 {
			all[e.Name()] = "link"
		}
	}
	return all
}

func TestFolderHasLinksAndNothingSecret(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	write(t, source, map[string]string{"main.tf": "a", "old.tf": "b", "modules/x/m.tf": "c", ".terraform.lock.hcl": "d",
		"terraform.tfstate": "{}", ".terraform/x": "e"})
	inputs := []enclave.Resolved{{Name: "open", Value: "x ${y}"}, {Name: "closed", Value: "hunter2", Sensitive: true}}
	again := func() {
		t.Helper()
		if err := lay(dir, source, map[string]string{"nclav_region": "r"}, inputs); err != nil {
			t.Fatal(err)
		}
	}
	again()
	write(t, dir, map[string]string{".terraform/providers": "kept"})
	if err := os.Remove(filepath.Join(source, "old.tf")); err != nil {
		t.Fatal(err)
	}
	again()
	want := map[string]string{"main.tf": "link", "modules": "link", ".terraform.lock.hcl": "file", ".terraform": "folder",
		".holdfast": "folder", backendFile: "file", variableFile: "file"}
	if diff := cmp.Diff(want, listed(t, dir)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, variableFile))
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), `open = "x $${y}"`) {
		t.Errorf("%s %v", text, err)
	}
	if diff := cmp.Diff("folder", listed(t, source)[".terraform"]); diff != "" || len(listed(t, source)) != 5 {
		t.Errorf("the user's folder is another one: %v", listed(t, source))
	}
}

func TestFolderOutlivesTheUsersFiles(t *testing.T) {
	source, dir := t.TempDir(), t.TempDir()
	write(t, source, map[string]string{"main.tf": "a", "modules/x/m.tf": "c"})
	if err := lay(dir, source, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(source), dropDangling(dir), restore(dir)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "modules", "x", "m.tf"))
	if string(text) != "c" || err != nil {
		t.Errorf("%s %v", text, err)
	}
}

func TestNamesThatAreMadeAreRefused(t *testing.T) {
	source := t.TempDir()
	write(t, source, map[string]string{variableFile: ""})
	if err := lay(t.TempDir(), source, nil, nil); err == nil || !strings.Contains(err.Error(), variableFile) {
		t.Error(err)
	}
}

func TestKeyReachesToolsByTheEnvironmentAlone(t *testing.T) {
	r := Runner{Address: "https://h.example/", User: "nclav", Key: "hunter2",
		Environ: []string{"PATH=/bin", "TF_VAR_x=1", "TF_CLI_ARGS=-x", "HOLDFAST_KEY=hunter2",
			"GOOGLE_APPLICATION_CREDENTIALS=f"}}
	want := []string{"init", "-reconfigure", "-input=false", "-no-color",
		"-backend-config=address=https://h.example/terraform/state/product-a-dev/db",
		"-backend-config=lock_address=https://h.example/terraform/state/product-a-dev/db/lock",
		"-backend-config=unlock_address=https://h.example/terraform/state/product-a-dev/db/lock",
		"-backend-config=lock_method=POST", "-backend-config=unlock_method=DELETE", "-backend-config=username=nclav"}
	if diff := cmp.Diff(want, r.initArgs("product-a-dev/db")); diff != "" {
		t.Error(diff)
	}
	at := place{env: map[string]string{"GOOGLE_PROJECT": "p"}, secrets: map[string]string{"password": "s"}}
	env := []string{"PATH=/bin", "GOOGLE_APPLICATION_CREDENTIALS=f", "TF_IN_AUTOMATION=1", "TF_INPUT=0",
		"CHECKPOINT_DISABLE=1", "TF_HTTP_PASSWORD=hunter2", "GOOGLE_PROJECT=p", "TF_VAR_password=s"}
	if diff := cmp.Diff(env, r.environment(at)); diff != "" {
		t.Error(diff)
	}
}
