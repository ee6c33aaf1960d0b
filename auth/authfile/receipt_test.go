package authfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A command waits for a server that runs, and for none that doesn't.
func TestReceipt(t *testing.T) {
	dir := t.TempDir()
	receipt, authFile := filepath.Join(dir, ReceiptName), filepath.Join(dir, "auth.cfg")
	write := func(text string) {
		if err := os.WriteFile(authFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	await := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return AwaitTaken(ctx, receipt, authFile)
	}
	write("one")
	if err := await(time.Minute); err != nil {
		t.Errorf("no server: %v", err)
	}
	server, err := OpenReceipt(t.Context(), receipt)
	if err != nil {
		t.Fatal(err)
	}
	if err := await(time.Nanosecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that has taken nothing yet: %v", err)
	}
	for _, text := range []string{"one", "two, and longer", ""} {
		write(text)
		waited := make(chan error, 1)
		go func() { waited <- await(time.Minute) }()
		if err := server.Write(digestOf([]byte(text))); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	write("three")
	if err := await(time.Nanosecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server with the text before: %v", err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := await(time.Minute); err != nil {
		t.Errorf("a server that has ended: %v", err)
	}
	if info, err := os.Stat(receipt); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
