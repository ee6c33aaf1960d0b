package authfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"

	"github.com/holdfast/holdfast/internal/follow"
	"github.com/holdfast/holdfast/internal/pause"
)

// ReceiptName is what the file of a Receipt is called, in the folder of all data.
const ReceiptName = "auth.taken"

// Receipt is a file by which a running server says which text of the auth file it has taken, so
// that a command that has changed the file can wait for that. It has the text's SHA-256, and is
// locked as long as the server runs: what a killed one has left misleads nobody.
type Receipt struct {
	lock *flock.Flock
	file *os.File
}

// OpenReceipt takes the receipt's file for this process.
func OpenReceipt(ctx context.Context, path string) (*Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	lock := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockInterval); err != nil || !ok {
		return nil, fmt.Errorf("can't lock %s: %w", path, errors.Join(err, ctx.Err()))
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Receipt{lock, file}, nil
}

// Write says that the text with this SHA-256 is in force; see Watcher.Confirm. It is no promise that
// a crash of the machine keeps.
func (r *Receipt) Write(digest string) error {
	_, err := r.file.WriteAt([]byte(digest), 0) // always as long, so never half of two
	return err
}

// Close gives the file up: nobody waits for this process any more.
func (r *Receipt) Close() error { return errors.Join(r.file.Close(), r.lock.Close()) }

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// AwaitTaken waits until the server that writes the receipt has taken the auth file as it is now.
// There is nothing to wait for where no server runs. The error is ctx's when it takes too long:
// the server may have refused the file, and says so in its log.
func AwaitTaken(ctx context.Context, receipt, authFile string) error {
	for {
		taken, err := isTaken(receipt, authFile)
		if taken || err != nil {
			return err
		}
		if err := pause.For(ctx, lockInterval); err != nil {
			return err
		}
	}
}

func isTaken(receipt, authFile string) (bool, error) {
	if runs, err := isLocked(receipt); err != nil || !runs {
		return true, err
	}
	said, err := os.ReadFile(receipt)
	if err != nil {
		return false, err
	}
	text, _, err := follow.ReadFile(authFile, maxFileSize)
	return string(said) == digestOf(text), err
}

// isLocked reports whether somebody has the file locked.
func isLocked(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := lock.TryRLock()
	if err != nil {
		return false, err
	}
	return !ok, lock.Close()
}
