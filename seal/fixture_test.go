package seal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

const plainText = "the password is hunter2"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newMaster(t testing.TB) *seal.Master {
	t.Helper()
	master, err := sealtest.NewMaster()
	must(t, err)
	return master
}

// counted is keys in memory that count what is asked of them, and can fail.
type counted struct {
	sealtest.Memory
	listed, added atomic.Int64
	fail          atomic.Pointer[error]
	wait          chan struct{} // what DataKeys waits for, if it is there
}

func (c *counted) DataKeys(ctx context.Context, org uuid.UUID) ([]seal.WrappedKey, error) {
	c.listed.Add(1)
	if c.wait != nil {
		select {
		case <-c.wait:
		case <-ctx.Done():
		}
	}
	if fail := c.fail.Load(); fail != nil {
		return nil, *fail
	}
	return c.Memory.DataKeys(ctx, org)
}

func (c *counted) AddDataKey(ctx context.Context, org uuid.UUID, key seal.WrappedKey) (seal.WrappedKey, error) {
	c.added.Add(1)
	return c.Memory.AddDataKey(ctx, org, key)
}

func mustSeal(t testing.TB, s *seal.Sealer, org uuid.UUID, kind seal.Kind, name, plain string) []byte {
	t.Helper()
	sealed, err := s.Seal(t.Context(), org, kind, name, []byte(plain))
	must(t, err)
	return sealed
}

func mustOpen(t testing.TB, s *seal.Sealer, org uuid.UUID, kind seal.Kind, name string, sealed []byte, want string) {
	t.Helper()
	got, err := s.Open(t.Context(), org, kind, name, sealed)
	if err != nil || string(got) != want {
		t.Errorf("opened %q, %v; want %q", got, err, want)
	}
}

func wantCode(t testing.TB, err error, want ...fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("the error is %v, not a fault", err)
		return
	}
	for _, code := range want {
		if f.Code == code {
			return
		}
	}
	t.Errorf("the error is %v, want %v", err, want)
}

func masterFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	must(t, seal.CreateMasterFile(path))
	return path
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
