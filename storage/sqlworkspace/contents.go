package sqlworkspace

import (
	"context"
	"crypto/sha256"
	"io"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/workspace"
)

// The kinds of blobs.
const (
	fileKind seal.Kind = "config"      // a file's content
	listKind seal.Kind = "config_list" // a snapshot's list of files
	sentKind seal.Kind = "config_sent" // which workspace a file's content was sent for
)

// PutContent implements workspace.Contents.
func (s *Store) PutContent(ctx context.Context, org uuid.UUID, r io.Reader,
	limit int64) (workspace.Digest, int64, error) {
	blob, err := s.blobs.Put(ctx, org, fileKind, r, limit)
	return workspace.Digest(blob.Digest), blob.Size, err
}

// OpenContent implements workspace.Contents.
func (s *Store) OpenContent(ctx context.Context, org uuid.UUID, digest workspace.Digest) (io.Reader, int64, error) {
	return s.blobs.Open(ctx, org, fileKind, sqldb.Digest(digest))
}

// Sizes implements workspace.Contents.
func (s *Store) Sizes(ctx context.Context, org uuid.UUID,
	digests []workspace.Digest) (sizes map[workspace.Digest]int64, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		found, err := s.blobs.Sizes(tx, org, fileKind, blobDigests(digests))
		sizes = make(map[workspace.Digest]int64, len(found))
		for d, size := range found {
			sizes[workspace.Digest(d)] = size
		}
		return err
	})
	return sizes, err
}

// NoteSent implements workspace.Contents. The record is a blob that nothing needs: it is swept as a content is.
func (s *Store) NoteSent(ctx context.Context, ref workspace.Ref, digest workspace.Digest) error {
	_, err := s.blobs.PutBytes(ctx, ref.Org, sentKind, sentRecord(ref, digest))
	return err
}

func sentRecord(ref workspace.Ref, digest workspace.Digest) []byte {
	return append(digest[:], ref.Name...)
}

// Sent implements workspace.Contents.
func (s *Store) Sent(ctx context.Context, ref workspace.Ref,
	digests []workspace.Digest) (sent map[workspace.Digest]bool, err error) {
	records := make([]sqldb.Digest, len(digests))
	for i, d := range digests {
		records[i] = sha256.Sum256(sentRecord(ref, d))
	}
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		found, err := s.blobs.Sizes(tx, ref.Org, sentKind, records)
		sent = make(map[workspace.Digest]bool, len(found))
		for i, d := range digests {
			if _, ok := found[records[i]]; ok {
				sent[d] = true
			}
		}
		return err
	})
	return sent, err
}

// StoredBytes implements workspace.Contents.
func (s *Store) StoredBytes(ctx context.Context, org uuid.UUID) (int64, error) {
	return s.blobs.Bytes(ctx, org)
}

func blobDigests(digests []workspace.Digest) []sqldb.Digest {
	all := make([]sqldb.Digest, len(digests))
	for i, d := range digests {
		all[i] = sqldb.Digest(d)
	}
	return all
}
