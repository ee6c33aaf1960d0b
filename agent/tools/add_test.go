package tools_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

func TestAdd(t *testing.T) {
	s, root := newStore(t)
	path := program(t, "anything", tofu("1.12.6"))
	tool, err := s.Add(t.Context(), tools.OpenTofu, "v1.12.6", path)
	must(t, err)
	sum := sha256.Sum256([]byte(tofu("1.12.6")))
	os, arch, _ := strings.Cut(platform, "_")
	want := tools.Tool{
		Name: tools.OpenTofu, Version: "1.12.6", OS: os, Arch: arch, SHA256: hex.EncodeToString(sum[:]),
		Size:   int64(len(tofu("1.12.6"))),
		Source: tools.FromFile, Origin: path, Added: someTime,
		Path: filepath.Join(root, "opentofu", "1.12.6", platform, "tofu"),
	}
	if diff := cmp.Diff(want, tool); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	isProgram(t, tool.Path, tofu("1.12.6"))
	opened, err := s.Open(t.Context(), tools.OpenTofu, "1.12.6")
	if diff := cmp.Diff(want, opened); err != nil || diff != "" {
		t.Errorf("opened with %v (-want +got):\n%s", err, diff)
	}
	if again, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", tofu("1.12.6"))); err != nil ||
		!cmp.Equal(again, want) {
		t.Errorf("the same bytes again: %+v, %v", again, err)
	}
	_, err = s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", tofu("1.12.6")+"# other\n"))
	wantFault(t, err, fault.ToolExists)
	add(t, s, tools.OpenTofu, tofu, "1.9.0", "1.13.0-beta1")
	add(t, s, tools.Terraform, terraform, "1.5.7")
	add(t, s, tools.Terragrunt, terragrunt, "0.55.1")
	list, err := s.List(t.Context())
	must(t, err)
	var got []string
	for _, tool := range list {
		got = append(got, string(tool.Name)+" "+tool.Version)
	}
	if diff := cmp.Diff([]string{"opentofu 1.13.0-beta1", "opentofu 1.12.6", "opentofu 1.9.0", "terraform 1.5.7",
		"terragrunt 0.55.1"}, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func isProgram(t *testing.T, path, text string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if got, err := os.ReadFile(path); err != nil || string(got) != text || info.Mode() != 0o555 {
		t.Errorf("%s has mode %v and %q, %v", path, info.Mode(), got, err)
	}
}

// What calls itself something else is not taken, and leaves nothing.
func TestAddRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		name    tools.Name
		version string
		text    string
		code    fault.Code
	}{
		"another tool's binary":      {tools.Terraform, "1.12.6", tofu("1.12.6"), fault.ToolMismatch},
		"OpenTofu's is Terraform's":  {tools.OpenTofu, "1.5.7", terraform("1.5.7"), fault.ToolMismatch},
		"Terragrunt's is OpenTofu's": {tools.Terragrunt, "1.12.6", tofu("1.12.6"), fault.ToolMismatch},
		"another version":            {tools.OpenTofu, "1.12.5", tofu("1.12.6"), fault.ToolMismatch},
		"a version that is two": {tools.OpenTofu, "1.12.6",
			strings.Replace(tofu("1.12.6"), `"terraform_version": "1.12.6"`, `"terraform_version": "1.12.5"`, 1),
			fault.ToolMismatch},
		"another platform": {tools.OpenTofu, "1.12.6", strings.Replace(tofu("1.12.6"), platform, "plan9_mips", 1),
			fault.ToolMismatch},
		"no JSON":    {tools.OpenTofu, "1.12.6", "#!/bin/sh\necho OpenTofu v1.12.6\n", fault.ToolMismatch},
		"a failure":  {tools.OpenTofu, "1.12.6", tofu("1.12.6") + "exit 1\n", fault.ToolMismatch},
		"no program": {tools.OpenTofu, "1.12.6", "\x7fELF", fault.ToolMismatch},
		"endless answers": {tools.OpenTofu, "1.12.6", "#!/bin/sh\nwhile :; do echo OpenTofu; done\n",
			fault.ToolMismatch},
		"a version with a path": {tools.OpenTofu, "1.12.6-a/../../b", tofu("1.12.6"), fault.ToolConstraintInvalid},
		"half a version":        {tools.OpenTofu, "1.12", tofu("1.12.6"), fault.ToolConstraintInvalid},
		"no version":            {tools.OpenTofu, "latest", tofu("1.12.6"), fault.ToolConstraintInvalid},
	} {
		t.Run(what, func(t *testing.T) {
			s, root := newStore(t)
			_, err := s.Add(t.Context(), c.name, c.version, program(t, "tool", c.text))
			wantFault(t, err, c.code)
			nothingAt(t, s, root)
		})
	}
	s, root := newStore(t)
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none"), os.DevNull} {
		_, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", path)
		wantFault(t, err, fault.ToolMismatch)
	}
	nothingAt(t, s, root)
}

// The program that is asked for its version sees nothing of the server's environment.
func TestAddAsksWithCleanEnvironment(t *testing.T) {
	t.Setenv("HOLDFAST_KEY", "hfk_secret")
	t.Setenv("TF_CLI_ARGS", "-chdir=/")
	s, _ := newStore(t)
	leak := filepath.Join(t.TempDir(), "leak")
	text := strings.Replace(tofu("1.12.6"), "case", "env >> "+leak+"\ncase", 1)
	_, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", text))
	must(t, err)
	seen, err := os.ReadFile(leak)
	must(t, err)
	if strings.Contains(string(seen), "hfk_secret") || strings.Contains(string(seen), "TF_CLI_ARGS=") ||
		!strings.Contains(string(seen), "CHECKPOINT_DISABLE=1") {
		t.Errorf("the program's environment:\n%s", seen)
	}
}

func TestOpenRefusesChangedBinary(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, path string){
		"other bytes of the same size, with the old time": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Chmod(path, 0o755))
			must(t, os.WriteFile(path, []byte(strings.Replace(tofu("1.12.6"), "provider_selections", "provider_selectionz", 1)),
				0o755))
			must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
			must(t, os.Chmod(path, 0o555))
		},
		"another file": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.WriteFile(path, []byte(tofu("1.12.5")), 0o555))
		},
		"a link": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Symlink(program(t, "tofu", tofu("1.12.6")), path))
		},
		"nothing": func(t *testing.T, path string) { must(t, os.Remove(path)) },
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := newStore(t)
			tool, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", tofu("1.12.6")))
			must(t, err)
			_, err = s.Open(t.Context(), tools.OpenTofu, "1.12.6")
			must(t, err)
			change(t, tool.Path)
			_, err = s.Open(t.Context(), tools.OpenTofu, "1.12.6")
			wantFault(t, err, fault.ToolChanged)
			_, err = s.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu})
			wantFault(t, err, fault.ToolChanged)
			// To add it again mends it.
			_, err = s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", tofu("1.12.6")))
			must(t, err)
			_, err = s.Open(t.Context(), tools.OpenTofu, "1.12.6")
			must(t, err)
			isProgram(t, tool.Path, tofu("1.12.6"))
		})
	}
}

func TestOpenOfDamagedRecord(t *testing.T) {
	s, _ := newStore(t)
	tool, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", tofu("1.12.6")))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(filepath.Dir(tool.Path), "record.json"), []byte(`{"tool":"terraform"}`), 0o600))
	_, err = s.Open(t.Context(), tools.OpenTofu, "1.12.6")
	wantFault(t, err, fault.ToolChanged)
}

func TestRemove(t *testing.T) {
	s, root := newStore(t)
	add(t, s, tools.OpenTofu, tofu, "1.12.6")
	for _, want := range []bool{true, false} {
		removed, err := s.Remove(t.Context(), tools.OpenTofu, "1.12.6")
		if err != nil || removed != want {
			t.Errorf("removed: %v, %v; want %v", removed, err, want)
		}
	}
	nothingAt(t, s, root)
	_, err := s.Open(t.Context(), tools.OpenTofu, "1.12.6")
	wantFault(t, err, fault.ToolUnavailable)
	if _, err := os.Stat(filepath.Join(root, "opentofu", "1.12.6")); !os.IsNotExist(err) {
		t.Errorf("the version's folder: %v", err)
	}
}

func TestFindOnPath(t *testing.T) {
	s, _ := newStore(t)
	one, two := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(one, "tofu"), []byte(tofu("1.12.6")), 0o755))
	must(t, os.Symlink(program(t, "terragrunt_linux", terragrunt("0.55.1")), filepath.Join(one, "terragrunt")))
	must(t, os.WriteFile(filepath.Join(two, "tofu"), []byte(tofu("1.9.0")), 0o755))
	must(t, os.WriteFile(filepath.Join(two, "terraform"), []byte(tofu("1.9.0")), 0o755)) // calls itself OpenTofu
	must(t, os.WriteFile(filepath.Join(two, "terragrunt"), []byte("notes"), 0o644))
	found, err := s.FindOnPath(t.Context(), strings.Join([]string{one, ".", two, one, ""}, string(os.PathListSeparator)))
	must(t, err)
	var got []string
	for _, f := range found {
		if f.Err != nil {
			wantFault(t, f.Err, fault.ToolMismatch)
			got = append(got, "refused "+filepath.Base(f.Path))
			continue
		}
		got = append(got, string(f.Tool.Name)+" "+f.Tool.Version+" "+f.Tool.Source)
	}
	if diff := cmp.Diff([]string{"opentofu 1.12.6 path", "terragrunt 0.55.1 path", "opentofu 1.9.0 path",
		"refused terraform"}, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	tool, err := s.Open(t.Context(), tools.Terragrunt, "0.55.1")
	must(t, err)
	isProgram(t, tool.Path, terragrunt("0.55.1"))
}
