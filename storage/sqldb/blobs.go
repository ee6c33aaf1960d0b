package sqldb

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/digest"
	"github.com/holdfast/holdfast/seal"
)

// Digest is the SHA-256 of a blob's content.
type Digest = digest.SHA256

// Sealer encrypts what is kept, in pieces. *seal.Sealer is one.
type Sealer interface {
	SealPieces(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, r io.Reader,
		put func(index int, sealed []byte) error) error
	OpenPieces(ctx context.Context, org uuid.UUID, kind seal.Kind, name string,
		get func(index int) ([]byte, error)) io.Reader
}

// Blobs keeps contents of any length, sealed, each once in an organization and for its kind. A blob stays as long
// as something needs it, which Retain and Release count, and for a while before and after.
type Blobs struct {
	db   *DB
	seal Sealer
	now  func() time.Time
}

// BlobGrace is for how long a blob stays that nothing needs: time enough to put the things that
// belong together, and then Retain them in one transaction.
const BlobGrace = 6 * time.Hour

// NewBlobs returns the blobs of a database.
func NewBlobs(db *DB, seal Sealer, now func() time.Time) *Blobs { return &Blobs{db, seal, now} }

// Blob describes one.
type Blob struct {
	Digest Digest
	Size   int64
}

// Put keeps what r has, at most limit bytes of it, and returns what it is. What is there already
// is not kept again. After an error nothing can be seen of it; what it wrote is swept away.
// Faults: BodyTooLarge.
func (b *Blobs) Put(ctx context.Context, org uuid.UUID, kind seal.Kind, r io.Reader, limit int64) (Blob, error) {
	p := &putting{blobs: b, ctx: ctx, org: org, kind: kind, id: newID()}
	content := digest.NewReader(r, limit, func() error {
		return fault.New(fault.BodyTooLarge, "it is larger than %d bytes, which is the limit", limit)
	})
	if err := b.seal.SealPieces(ctx, org, kind, p.id, content, p.piece); err != nil {
		p.abandon()
		return Blob{}, err
	}
	found := Blob{Size: content.N, Digest: content.Sum()}
	return found, p.finish(found)
}

// PutBytes is Put of a content that is in memory.
func (b *Blobs) PutBytes(ctx context.Context, org uuid.UUID, kind seal.Kind, content []byte) (Blob, error) {
	return b.Put(ctx, org, kind, bytes.NewReader(content), int64(len(content)))
}

// putting is a blob on its way in. Its first piece waits in memory: most blobs have no other,
// and then are one transaction.
type putting struct {
	blobs  *Blobs
	ctx    context.Context
	org    uuid.UUID
	kind   seal.Kind
	id     string
	first  []byte
	pieces int
}

func newID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

func (p *putting) now() int64 { return p.blobs.now().UnixMicro() }

// piece keeps a piece.
func (p *putting) piece(index int, sealed []byte) error {
	p.pieces = index + 1
	if index == 0 {
		p.first = bytes.Clone(sealed)
		return nil
	}
	return p.blobs.db.WriteBytes(p.ctx, p.org, len(sealed)+len(p.first), func(tx Tx) error {
		if index == 1 {
			if err := p.begin(tx); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("UPDATE blobs SET touched = ? WHERE id = ?", p.now(), p.id); err != nil {
			return err
		}
		return p.insert(tx, index, sealed)
	})
}

// begin makes the blob's row and its first piece. Nobody finds it before it has a digest.
func (p *putting) begin(tx Tx) error {
	_, err := tx.Exec("INSERT INTO blobs (id, org, kind, digest, size, pieces, refs, touched) VALUES (?, ?, ?, NULL, "+
		"0, 0, 0, ?)",
		p.id, p.org.String(), p.kind, p.now())
	if err != nil {
		return err
	}
	return p.insert(tx, 0, p.first)
}

func (p *putting) insert(tx Tx, index int, sealed []byte) error {
	_, err := tx.Exec("INSERT INTO blob_pieces (blob_id, piece, body) VALUES (?, ?, ?)", p.id, index, sealed)
	return err
}

// finish has the blob be found by its digest, unless one is: then that is kept for longer.
func (p *putting) finish(found Blob) error {
	return p.blobs.db.WriteBytes(p.ctx, p.org, len(p.first), func(tx Tx) error {
		there, err := Change(tx, "UPDATE blobs SET touched = ? WHERE org = ? AND kind = ? AND digest = ?",
			p.now(), p.org.String(), p.kind, found.Digest[:])
		if err != nil || there {
			return p.drop(tx, err)
		}
		if p.pieces == 1 {
			if err := p.begin(tx); err != nil {
				return err
			}
		}
		ours, err := Change(tx, "UPDATE blobs SET digest = ?, size = ?, pieces = ?, touched = ? WHERE id = ?",
			found.Digest[:], found.Size, p.pieces, p.now(), p.id)
		if err == nil && !ours {
			err = fault.New(fault.Interrupted, "it took so long to arrive that its beginning was given up; send it again")
		}
		if err != nil {
			return err
		}
		return account(tx, p.org, found.Size)
	})
}

// abandon removes what was kept of a blob that did not arrive. What it leaves is swept away.
func (p *putting) abandon() {
	if p.pieces > 1 {
		_ = p.blobs.db.Write(context.WithoutCancel(p.ctx), p.org, func(tx Tx) error { return p.drop(tx, nil) })
	}
}

func (p *putting) drop(tx Tx, err error) error {
	if err != nil || p.pieces <= 1 {
		return err
	}
	return dropBlob(tx, p.id)
}

func dropBlob(tx Tx, id string) error {
	if _, err := tx.Exec("DELETE FROM blob_pieces WHERE blob_id = ?", id); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM blobs WHERE id = ?", id)
	return err
}

// account notes that an organization has so many bytes more.
func account(tx Tx, org uuid.UUID, bytes int64) error {
	if _, err := Insert(tx, "INSERT INTO organizations (org, bytes) VALUES (?, 0)", org.String()); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE organizations SET bytes = bytes + ? WHERE org = ?", bytes, org.String())
	return err
}

// Bytes returns how many bytes the organization's blobs have.
func (b *Blobs) Bytes(ctx context.Context, org uuid.UUID) (n int64, err error) {
	err = b.db.Read(ctx, org, func(q Querier) error {
		_, err := One(q, []any{&n}, "SELECT bytes FROM organizations WHERE org = ?", org.String())
		return err
	})
	return n, err
}

// Open returns a blob's content. It is read piece by piece: only who has read to io.EOF has read
// all of it, and found it to be what was put. fs.ErrNotExist if there is none.
func (b *Blobs) Open(ctx context.Context, org uuid.UUID, kind seal.Kind,
	digest Digest) (content io.Reader, size int64, err error) {
	var id string
	err = b.db.Read(ctx, org, func(q Querier) error {
		found, err := One(q, []any{&id, &size}, "SELECT id, size FROM blobs WHERE org = ? AND kind = ? AND digest = ?",
			org.String(), kind, digest[:])
		if err == nil && !found {
			err = fmt.Errorf("blob %s: %w", digest, fs.ErrNotExist)
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return b.seal.OpenPieces(ctx, org, kind, id, func(index int) (sealed []byte, err error) {
		err = b.db.Read(ctx, org, func(q Querier) error {
			found, err := One(q, []any{&sealed}, "SELECT body FROM blob_pieces WHERE blob_id = ? AND piece = ?", id, index)
			if err == nil && !found {
				err = fs.ErrNotExist
			}
			return err
		})
		return sealed, err
	}), size, nil
}

// Load returns the content of a blob that is small, at most limit bytes.
func (b *Blobs) Load(ctx context.Context, org uuid.UUID, kind seal.Kind, digest Digest, limit int64) ([]byte, error) {
	content, size, err := b.Open(ctx, org, kind, digest)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fault.New(fault.BodyTooLarge, "it has %d bytes, and %d are the limit", size, limit)
	}
	return io.ReadAll(content)
}

// Sizes returns the sizes of those of the blobs that are there, and keeps them for a while.
func (b *Blobs) Sizes(tx Tx, org uuid.UUID, kind seal.Kind, digests []Digest) (map[Digest]int64, error) {
	found := make(map[Digest]int64, len(digests))
	err := inChunks(digests, func(places string, args []any) error {
		args = append([]any{org.String(), kind}, args...)
		where := " WHERE org = ? AND kind = ? AND digest IN (" + places + ")"
		if _, err := tx.Exec("UPDATE blobs SET touched = ?"+where,
			append([]any{b.now().UnixMicro()}, args...)...); err != nil {
			return err
		}
		_, err := All(tx, func(rows *sql.Rows) (struct{}, error) {
			var digest []byte
			var size int64
			err := rows.Scan(&digest, &size)
			found[Digest(digest)] = size
			return struct{}{}, err
		}, "SELECT digest, size FROM blobs"+where, args...)
		return err
	})
	return found, err
}

// chunk is how many rows one statement names.
const chunk = 200

func inChunks(digests []Digest, do func(places string, args []any) error) error {
	for len(digests) > 0 {
		n := min(chunk, len(digests))
		args := make([]any, n)
		for i := range n {
			args[i] = digests[i][:]
		}
		if err := do(Places(n), args); err != nil {
			return err
		}
		digests = digests[n:]
	}
	return nil
}

// Retain counts that something more needs each of the blobs, which differ from each other, and
// reports whether all of them are there. If not, the caller's transaction has to fail.
func (b *Blobs) Retain(tx Tx, org uuid.UUID, kind seal.Kind, digests ...Digest) (all bool, err error) {
	n, err := b.count(tx, org, kind, digests, 1)
	return n == int64(len(digests)), err
}

// Release counts that something does not need each of the blobs any more.
func (b *Blobs) Release(tx Tx, org uuid.UUID, kind seal.Kind, digests ...Digest) error {
	_, err := b.count(tx, org, kind, digests, -1)
	return err
}

func (b *Blobs) count(tx Tx, org uuid.UUID, kind seal.Kind, digests []Digest, by int) (n int64, err error) {
	err = inChunks(digests, func(places string, args []any) error {
		found, err := Count(tx, "UPDATE blobs SET refs = refs + ?, touched = ? WHERE org = ? AND kind = ? AND digest IN ("+
			places+")",
			append([]any{by, b.now().UnixMicro(), org.String(), kind}, args...)...)
		n += found
		return err
	})
	return n, err
}
