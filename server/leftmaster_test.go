package server

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/storage"
)

// TestStartRemovesLeftMasterKeys: a program that was killed while it made the master key file has left that key under
// another name, which no backup and no `holdfast seal forget` knows of. The next start removes it.
func TestStartRemovesLeftMasterKeys(t *testing.T) {
	var log logtest.Journal
	p := &parts{settings: configs.Settings{}, log: slog.New(slog.NewTextHandler(&log, nil))}
	p.settings.Storage.Path = t.TempDir()
	if err := storage.CreateMaster(t.Context(), p.settings); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(p.settings.Storage.Path, ".master.key."+rand.Text())
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Link(p.settings.MasterKeyPath(), left), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.openMaster(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there still: %v", err)
	}
	if log.String() == "" {
		t.Error("the log says nothing of it")
	}
}
