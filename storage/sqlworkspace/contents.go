package sqlworkspace

import (
	"context"
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
