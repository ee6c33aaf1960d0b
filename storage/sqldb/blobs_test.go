package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// inverted seals by inverting bits, in pieces of 8 bytes.
type inverted struct{}

func inverse(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = ^b[i]
	}
	return out
}

func (inverted) SealPieces(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string, r io.Reader,
	put func(int, []byte) error) error {
	all, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	for i := 0; i == 0 || len(all) > 0; i++ {
		n := min(8, len(all))
		if err := put(i, inverse(all[:n])); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (inverted) OpenPieces(_ context.Context, _ uuid.UUID, _ seal.Kind, _ string,
	get func(int) ([]byte, error)) io.Reader {
	var all []byte
	for i := 0; ; i++ {
		piece, err := get(i)
		if errors.Is(err, fs.ErrNotExist) {
			return bytes.NewReader(all)
		}
		if err != nil {
			return iotest.ErrReader(err)
		}
		all = append(all, inverse(piece)...)
	}
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// eachBlobs runs a test with blobs on every database.
func eachBlobs(t *testing.T, test func(t *testing.T, db *sqldb.DB, blobs *sqldb.Blobs, c *clock)) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		test(t, db, sqldb.NewBlobs(db, inverted{}, c.now), c)
	})
}

func put(t *testing.T, blobs *sqldb.Blobs, org uuid.UUID, content string) sqldb.Blob {
	t.Helper()
	blob, err := blobs.PutBytes(t.Context(), org, "config", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

func content(t *testing.T, blobs *sqldb.Blobs, org uuid.UUID, digest sqldb.Digest) string {
	t.Helper()
	got, err := blobs.Load(t.Context(), org, "config", digest, 1000)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Error(err)
	}
	return string(got)
}

// rows counts what is kept.
func rows(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	err := db.Read(t.Context(), uuid.Nil, func(q sqldb.Querier) error {
		_, err := sqldb.One(q, []any{&n}, "SELECT (SELECT count(*) FROM blobs) + (SELECT count(*) FROM blob_pieces)")
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// A content is kept once in an organization, sealed, and is not there for others.
func TestBlobs(t *testing.T) {
	eachBlobs(t, func(t *testing.T, db *sqldb.DB, blobs *sqldb.Blobs, _ *clock) {
		org, other := uuid.New(), uuid.New()
		for _, text := range []string{"", "short", "a content of several pieces"} {
			before := rows(t, db)
			blob := put(t, blobs, org, text)
			kept := rows(t, db)
			if put(t, blobs, org, text) != blob || rows(t, db) != kept || kept == before {
				t.Errorf("%q is not kept once", text)
			}
			if got := content(t, blobs, org, blob.Digest); got != text || blob.Size != int64(len(text)) {
				t.Errorf("%q became %q, of %d bytes", text, got, blob.Size)
			}
			if got := content(t, blobs, other, blob.Digest); got != "-" {
				t.Errorf("another organization has %q", got)
			}
		}
		if n, err := blobs.Bytes(t.Context(), org); n != 5+27 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}

// What does not arrive whole, or is too long, leaves nothing behind.
func TestBlobsThatFail(t *testing.T) {
	eachBlobs(t, func(t *testing.T, db *sqldb.DB, blobs *sqldb.Blobs, c *clock) {
		org, broken := uuid.New(), errors.New("the line broke")
		_, err := blobs.Put(t.Context(), org, "config",
			io.MultiReader(bytes.NewReader(make([]byte, 20)), iotest.ErrReader(broken)), 100)
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		if _, err := blobs.Put(t.Context(), org, "config", bytes.NewReader(make([]byte, 20)), 19); !fault.Is(err,
			fault.BodyTooLarge) {
			t.Error(err)
		}
		if n := rows(t, db); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// What is needed stays, and what is not needed any more goes after a while.
func TestSweepOfBlobs(t *testing.T) {
	eachBlobs(t, func(t *testing.T, db *sqldb.DB, blobs *sqldb.Blobs, c *clock) {
		org := uuid.New()
		a, b := put(t, blobs, org, "first"), put(t, blobs, org, "second, of several pieces")
		mustWrite(t, db, org, func(tx sqldb.Tx) error {
			if all, err := blobs.Retain(tx, org, "config", a.Digest, b.Digest); !all || err != nil {
				t.Errorf("not all were there: %v", err)
			}
			if all, err := blobs.Retain(tx, org, "plan", a.Digest); all || err != nil {
				t.Errorf("one of another kind was there: %v", err)
			}
			return blobs.Release(tx, org, "config", a.Digest)
		})
		for _, step := range []struct {
			later   time.Duration
			removed int
		}{{sqldb.BlobGrace, 0}, {time.Second, 1}, {sqldb.BlobGrace, 0}} {
			c.at = c.at.Add(step.later)
			if removed, err := blobs.Sweep(t.Context()); removed != step.removed || err != nil {
				t.Errorf("%v later %d are removed, %v", step.later, removed, err)
			}
		}
		if content(t, blobs, org, a.Digest) != "-" || content(t, blobs, org, b.Digest) != "second, of several pieces" {
			t.Error("the wrong one is gone")
		}
		mustWrite(t, db, org, func(tx sqldb.Tx) error {
			sizes, err := blobs.Sizes(tx, org, "config", []sqldb.Digest{a.Digest, b.Digest})
			if len(sizes) != 1 || sizes[b.Digest] != b.Size {
				t.Errorf("sizes %v", sizes)
			}
			return err
		})
		if n, err := blobs.Bytes(t.Context(), org); n != b.Size || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}
