package sealtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/seal"
)

// Master returns a master key that is the same in every process, for tests that keep it nowhere.
func Master() *seal.Master {
	master, err := seal.Source{Text: strings.Repeat("5e", 32)}.Read(context.Background())
	if err != nil {
		panic(err)
	}
	return master
}

// MasterFile is where the master keys of a test's folder are.
func MasterFile(dir string) string { return filepath.Join(dir, "master.key") }

// MasterIn reads the master key file of a folder; nil when there is none.
func MasterIn(dir string) *seal.Master {
	master, err := seal.ReadMasterFile(MasterFile(dir))
	if err != nil {
		return nil
	}
	return master
}

// MakeMaster makes a master key file in a folder, if there is none, and reads it.
func MakeMaster(t testing.TB, dir string) *seal.Master {
	t.Helper()
	_ = seal.CreateMasterFile(MasterFile(dir))
	master := MasterIn(dir)
	if master == nil {
		t.Fatal("there is no master key file")
	}
	return master
}

// KeepNewest takes all master keys but the newest out of a folder's file.
func KeepNewest(t testing.TB, dir string) {
	t.Helper()
	text, err := os.ReadFile(MasterFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		kept = append(kept, line...)
		if !bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("holdfast-master-key ")) {
			break
		}
	}
	if len(kept) == len(text) {
		t.Fatal("there is one master key only: the test shows nothing")
	}
	if err := os.WriteFile(MasterFile(dir), kept, 0o600); err != nil {
		t.Fatal(err)
	}
}
