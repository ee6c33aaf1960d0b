package statefile

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/diag"
)

// answering is a server that always answers so.
func answering(t *testing.T, status int, text string, header ...string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server
}

// everything asks a store for all that it can do, and returns what it says.
func everything(ctx context.Context, s Store) map[string]error {
	_, read := s.Read(ctx)
	_, lock := s.Lock(ctx, NewLockInfo("apply"))
	return map[string]error{"read": read, "write": s.Write(ctx, New()), "lock": lock, "unlock": s.ForceUnlock(ctx, "x")}
}

// Whatever is wrong with a server, nothing that is asked of it goes well, and no error has its address.
func TestServersThatFailAreSaid(t *testing.T) {
	for name, c := range map[string]struct{ address, want string }{
		"gone":             {"http://user:hush@127.0.0.1:1", "can't be"},
		"says no":          {answering(t, http.StatusForbidden, strings.Repeat("no ", 400)).URL, "refuses to"},
		"no address":       {"http://[::1", "can't be read"},
		"address of lines": {"http://127.0.0.1/\n", "can't be"},
	} {
		for what, err := range everything(t.Context(), &HTTP{Address: c.address}) {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") ||
				len(err.Error()) > 1000 {
				t.Errorf("%s: %s says %.1500v", name, what, err)
			}
		}
	}
	damaged := &HTTP{Address: answering(t, http.StatusOK, "{").URL}
	_, err := damaged.Read(t.Context())
	wantCategory(t, err, diag.State)
}

// A bucket that doesn't keep what conditional writes need is not written to.
func TestBucketsThatFailAreSaid(t *testing.T) {
	for name, c := range map[string]struct{ address, want string }{
		"gone":         {"http://127.0.0.1:1", "refused"},
		"says no":      {answering(t, http.StatusForbidden, "no").URL, "answered 403"},
		"no address":   {"http://[::1", "address of the bucket"},
		"has no ETags": {answering(t, http.StatusOK, "{}").URL, "which version it has"},
	} {
		store := NewConditional(&Bucket{Address: c.address, Dialect: S3}, "state")
		for what, err := range everything(t.Context(), store) {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s says %v", name, what, err)
			}
		}
	}
}

// Nobody breaks a lock of which it can't be told whose it is.
func TestDamagedLockIsNotBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	if err := os.WriteFile(path+".lock", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := NewLocal(path)
	_, err := l.Lock(t.Context(), NewLockInfo("apply"))
	wantCategory(t, err, diag.Concurrency)
	if err == nil || !strings.Contains(err.Error(), "can't be read") {
		t.Error(err)
	}
	wantCategory(t, l.ForceUnlock(t.Context(), "x"), diag.State)
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Error(err)
	}
}

// A holder whose lock was broken takes nobody else's lock away.
func TestBrokenLocksHolderLeavesTheNextOneAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	mine := NewLocal(path)
	first := NewLockInfo("apply")
	release, err := mine.Lock(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	theirs := NewLocal(path)
	if err := theirs.ForceUnlock(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	second := NewLockInfo("plan")
	if _, err := theirs.Lock(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	wantCategory(t, release(t.Context()), diag.Concurrency)
	if h, err := theirs.holder(); err != nil || h.ID != second.ID {
		t.Errorf("%+v %v", h, err)
	}
}
