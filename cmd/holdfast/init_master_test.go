package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/seal"
)

func masterText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Init makes a master key beside the data, says what losing it means, and never makes another
// one in its place.
func TestInitMakesTheMasterKey(t *testing.T) {
	s := newShell(t)
	path := filepath.Join(s.data, "master.key")
	out := s.must("init")
	if _, err := seal.ReadMasterFile(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	for _, want := range []string{"Made " + path, "If it is lost, nobody can read", "together with the data"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if said := (madeMaster{path, true, ""}).words(""); strings.Count(said, "\n") != 2 {
		t.Errorf("it takes more than two lines:\n%s", said)
	}
	text := masterText(t, path)
	if key := text[strings.Index(text, "key 1\n")+6:][:64]; strings.Contains(out, key) {
		t.Error("the key was printed")
	}

	// Neither init again, nor a new auth file, changes it.
	s.must("init", "--if-missing")
	if err := os.Remove(s.file); err != nil {
		t.Fatal(err)
	}
	if out := s.must("init"); strings.Contains(out, "If it is lost") {
		t.Errorf("printed\n%s", out)
	}
	if masterText(t, path) != text {
		t.Error("the master key was overwritten")
	}
}

// An installation from before there were master keys gets one, its auth file stays.
func TestInitAddsTheMasterKey(t *testing.T) {
	s := newShell(t)
	s.must("init")
	path := filepath.Join(s.data, "master.key")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "is there already", "init")
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused init made a master key")
	}
	before := s.doc().String()
	if out := s.must("init", "--if-missing"); !strings.Contains(out, "is there already") ||
		!strings.Contains(out, "If it is lost") {
		t.Errorf("printed\n%s", out)
	}
	if _, err := seal.ReadMasterFile(path); err != nil {
		t.Error(err)
	}
	if s.doc().String() != before {
		t.Error("the auth file was changed")
	}
}

func TestInitKeepsTheMasterKeyElsewhere(t *testing.T) {
	for name, arrange := range map[string]func(s *shell, path string) []string{
		"by flag": func(_ *shell, path string) []string { return []string{"--seal-master-key-file", path} },
		"by environment": func(s *shell, path string) []string {
			s.environ = []string{"HOLDFAST_SEAL_MASTER_KEY_FILE=" + path}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			path := filepath.Join(t.TempDir(), "elsewhere.key")
			var got map[string]any
			if err := json.Unmarshal([]byte(s.must(append([]string{"init", "--json"}, arrange(s, path)...)...)),
				&got); err != nil {
				t.Fatal(err)
			}
			if got["master_key_file"] != path || got["master_key_created"] != true {
				t.Errorf("printed %v", got)
			}
			if _, err := seal.ReadMasterFile(path); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(s.data); err == nil {
				t.Error("the folder of all data was made for nothing")
			}
		})
	}
	s := newShell(t)
	data := filepath.Join(t.TempDir(), "new", "folder")
	s.must("init", "--storage-path", data)
	if _, err := seal.ReadMasterFile(filepath.Join(data, "master.key")); err != nil {
		t.Error(err)
	}
}

// A master key file that is damaged is for a person to put right: init touches nothing.
func TestInitRefusesADamagedMasterKey(t *testing.T) {
	s := newShell(t)
	s.must("init")
	path := filepath.Join(s.data, "master.key")
	damaged := strings.TrimSpace(masterText(t, path))
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "can't be used: "+path+": line", "init", "--if-missing")
	if masterText(t, path) != damaged {
		t.Error("the file was changed")
	}
}
