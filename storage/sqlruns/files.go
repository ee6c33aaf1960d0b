package sqlruns

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// fileKey selects what belongs to a file.
const fileKey = "org = ? AND run = ? AND kind = ? AND attempt = ?"

func argsOfFile(file runs.FileRef, more ...any) []any {
	return append([]any{file.Org.String(), file.ID, string(file.Kind), file.Attempt}, more...)
}

// PutPiece implements runs.Store.
func (s *Store) PutPiece(ctx context.Context, file runs.FileRef, upload string, index int, sealed []byte) error {
	if err := checkPiece(sealed); err != nil {
		return err
	}
	return s.write(ctx, file.Ref, len(sealed), func(t tx) error {
		if _, err := load(t, file.Ref); err != nil {
			return err
		}
		if _, there, err := fileOf(t, file); err != nil || there {
			return err
		}
		if err := t.continued(file, upload, index == 0); err != nil {
			return err
		}
		var was int64
		if _, err := sqldb.One(t, []any{&was}, "SELECT LENGTH(sealed) FROM run_file_pieces WHERE "+fileKey+" AND piece = ?",
			argsOfFile(file, index)...); err != nil {
			return err
		}
		upsert := t.Dialect().Upsert("run_file_pieces", []string{"org", "run", "kind", "attempt", "piece"},
			[]string{"sealed"})
		if err := t.exec(upsert, argsOfFile(file, index, sealed)...); err != nil {
			return err
		}
		return t.tally(runs.Tally{Bytes: int64(len(sealed)) - was})
	})
}

// continued refuses what is of another upload than the one that began last. One that begins takes
// the place of that.
func (t tx) continued(file runs.FileRef, upload string, begins bool) error {
	var now string
	_, err := sqldb.One(t, []any{&now}, "SELECT upload FROM run_uploads WHERE "+fileKey, argsOfFile(file)...)
	switch {
	case err != nil || now == upload:
		return err
	case !begins:
		return fault.New(fault.UploadReplaced, "another upload of this %s has begun since; nothing of this one is kept",
			file.Kind)
	}
	if err := t.dropPieces(file, 0); err != nil {
		return err
	}
	return t.exec(t.Dialect().Upsert("run_uploads", []string{"org", "run", "kind", "attempt"}, []string{"upload"}),
		argsOfFile(file, upload)...)
}

// CompleteFile implements runs.Store.
func (s *Store) CompleteFile(ctx context.Context, file runs.File, upload string,
	allow func(runs.Run) error) (kept runs.File, err error) {
	err = s.write(ctx, file.Ref, 0, func(t tx) error {
		if err := t.allowed(file.Ref, allow); err != nil {
			return err
		}
		var there bool
		if kept, there, err = fileOf(t, file.FileRef); err != nil || there {
			return err
		}
		kept = file
		if err := t.continued(file.FileRef, upload, file.Pieces == 0); err != nil {
			return err
		}
		return t.complete(file)
	})
	if err != nil {
		return runs.File{}, err
	}
	return kept, nil
}

func (t tx) complete(file runs.File) error {
	var pieces int
	if _, err := sqldb.One(t, []any{&pieces}, "SELECT COUNT(*) FROM run_file_pieces WHERE "+fileKey+
		" AND piece >= 0 AND piece < ?", argsOfFile(file.FileRef, file.Pieces)...); err != nil {
		return err
	}
	if pieces != file.Pieces {
		return fault.New(fault.RunInvalid, "the file has %d pieces of %d", pieces, file.Pieces)
	}
	if err := t.dropPieces(file.FileRef, file.Pieces); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM run_uploads WHERE "+fileKey, argsOfFile(file.FileRef)...); err != nil {
		return err
	}
	return t.exec("INSERT INTO run_files (org, run, kind, attempt, size, digest, pieces) VALUES (?, ?, ?, ?, ?, ?, ?)",
		argsOfFile(file.FileRef, file.Size, file.Digest, file.Pieces)...)
}

// dropPieces removes pieces from an index on, which an earlier upload has left.
func (t tx) dropPieces(file runs.FileRef, from int) error {
	var bytes sql.NullInt64
	if _, err := sqldb.One(t, []any{&bytes}, "SELECT SUM(LENGTH(sealed)) FROM run_file_pieces WHERE "+fileKey+
		" AND piece >= ?", argsOfFile(file, from)...); err != nil || bytes.Int64 == 0 {
		return err
	}
	if err := t.exec("DELETE FROM run_file_pieces WHERE "+fileKey+" AND piece >= ?",
		argsOfFile(file, from)...); err != nil {
		return err
	}
	return t.tally(runs.Tally{Bytes: -bytes.Int64})
}

func fileOf(q sqldb.Querier, ref runs.FileRef) (file runs.File, there bool, err error) {
	file.FileRef = ref
	there, err = sqldb.One(q, []any{&file.Size, &file.Digest, &file.Pieces},
		"SELECT size, digest, pieces FROM run_files WHERE "+fileKey, argsOfFile(ref)...)
	return file, there, err
}

func noFile(ref runs.FileRef) error {
	return fault.New(fault.RunFileNotFound, "the run has no file %s of attempt %d", ref.Kind, ref.Attempt)
}

// FileOf implements runs.Store.
func (s *Store) FileOf(ctx context.Context, ref runs.FileRef) (file runs.File, err error) {
	err = s.db.Ask(ctx, ref.Org, func(q sqldb.Querier) error {
		found, there, err := fileOf(q, ref)
		if err == nil && !there {
			return noFile(ref)
		}
		file = found
		return err
	})
	return file, err
}

// FilesOf implements runs.Store.
func (s *Store) FilesOf(ctx context.Context, ref runs.Ref) ([]runs.File, error) {
	scan := func(r *sql.Rows) (runs.File, error) {
		file := runs.File{FileRef: runs.FileRef{Ref: ref}}
		return file, r.Scan(&file.Kind, &file.Attempt, &file.Size, &file.Digest, &file.Pieces)
	}
	return ask(ctx, s, ref.Org, scan,
		"SELECT kind, attempt, size, digest, pieces FROM run_files WHERE org = ? AND run = ? ORDER BY kind, attempt",
		ref.Org.String(), ref.ID)
}

// Piece implements runs.Store.
func (s *Store) Piece(ctx context.Context, file runs.FileRef, index int) (sealed []byte, err error) {
	err = s.db.Read(ctx, file.Org, func(q sqldb.Querier) error {
		if _, there, err := fileOf(q, file); err != nil || !there {
			return cmpOr(err, noFile(file))
		}
		found, err := sqldb.One(q, []any{&sealed}, "SELECT sealed FROM run_file_pieces WHERE "+fileKey+" AND piece = ?",
			argsOfFile(file, index)...)
		if err == nil && !found {
			return noFile(file)
		}
		return err
	})
	return sealed, err
}

// cmpOr returns the first error that there is.
func cmpOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
