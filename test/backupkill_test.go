//go:build e2e

package test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// TestBackupKilled: a backup and a restore that are killed at any time leave what was there before, or all of
// what they were to make. What a killed one left is no obstacle for the next.
func TestBackupKilled(t *testing.T) {
	suite.Deep(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 24<<20) // a file of uploads that takes a while to be read
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	uploads := uuid.NewString() + ".csv"
	if err := os.WriteFile(filepath.Join(data, uploads), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	database, err := sqlite.Open(t.Context(), sqlite.Options{Dir: data, Master: sealtest.MakeMaster(t, data)})
	if err != nil {
		t.Fatal(err)
	}
	if err := database.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "auth.cfg"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := os.Getenv("HOLDFAST_BIN")
	environ := append(freshEnviron(), "STORAGE_PATH="+data, "HOLDFAST_AUTH_FILE="+filepath.Join(dir, "auth.cfg"))
	run := func(args ...string) { t.Helper(); output(t, dir, environ, bin, args...) }
	killed := func(args ...string) (ended bool) {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = dir, environ
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		return cmd.Wait() == nil
	}
	run("backup", "-o", "good.hfb", "--unencrypted")
	whole := 0
	for range 12 {
		if killed("backup", "-o", "new.hfb", "--unencrypted", "--overwrite") {
			whole++
		}
		if _, err := os.Stat(filepath.Join(dir, "new.hfb")); err == nil {
			run("backup", "verify", "new.hfb")
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if killed("restore", "good.hfb", "--to", "restored") {
			whole++
		}
		if entries, err := os.ReadDir(filepath.Join(dir, "restored")); err == nil {
			if len(entries) != 3 {
				t.Fatalf("a part of it is there: %v", entries)
			}
			restored, err := os.ReadFile(filepath.Join(dir, "restored", uploads))
			if err != nil || string(restored) != string(noise) {
				t.Fatalf("it is not what it was: %d bytes, %v", len(restored), err)
			}
			if err := os.RemoveAll(filepath.Join(dir, "restored")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if whole == 24 {
		t.Error("nothing was killed in time")
	}
	run("restore", "good.hfb", "--to", "restored")
	run("backup", "-o", "new.hfb", "--unencrypted", "--overwrite")
	run("backup", "verify", "new.hfb")
}
