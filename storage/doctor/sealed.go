package doctor

import (
	"database/sql"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/digest"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// sealed opens what runs.db keeps encrypted beside blobs, under the names that it was sealed as.
type sealed struct {
	*doctor
	db     *sql.DB
	sealer *seal.Sealer
	bad    map[string]bool // what was told of
}

// all opens every variable, every piece of a log and every file of a run.
func (s sealed) all() error {
	for _, step := range []func() error{s.keys, s.variables, s.logs, s.files} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// unreadable tells of something once.
func (s sealed) unreadable(what string, err error) {
	if !s.bad[what] {
		s.bad[what] = true
		s.found("runs.db", unlessForgotten(err, doRestore), "%s can't be read: %v", what, err)
	}
}

// each calls one with each row of a query whose first column is an organization. What one returns is told of.
func (s sealed) each(query string, one func(rows *sql.Rows, org *uuid.UUID) (what string, err error)) error {
	rows, err := s.db.QueryContext(s.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var org uuid.UUID
		s.report.Checked.Blobs++
		what, err := one(rows, &org)
		if ended := s.ctx.Err(); ended != nil {
			return ended
		}
		if err != nil {
			s.unreadable(what, err)
		}
	}
	return rows.Err()
}

// keys unwraps the data keys, also of who has nothing sealed: secrets are derived from them.
func (s sealed) keys() error {
	return s.each("SELECT DISTINCT org FROM data_keys", func(rows *sql.Rows, org *uuid.UUID) (string, error) {
		if err := rows.Scan(org); err != nil {
			return "a data key", err
		}
		s.report.Checked.Blobs--
		_, err := s.sealer.Sum(s.ctx, *org, "doctor")
		return fmt.Sprintf("the first data key of %s", org), err
	})
}

func (s sealed) variables() error {
	return s.each("SELECT org, workspace, kind, name, sealed FROM variables",
		func(rows *sql.Rows, org *uuid.UUID) (string, error) {
			var scope state.Name
			var key workspace.Key
			var bytes []byte
			if err := rows.Scan(org, &scope, &key.Kind, &key.Name, &bytes); err != nil {
				return "a variable", err
			}
			_, err := s.sealer.Open(s.ctx, *org, workspace.SealedVariable, key.SealedAs(scope), bytes)
			return fmt.Sprintf("the variable %s of %q of %s", key.Name, scope, org), err
		})
}

func (s sealed) logs() error {
	// A log that ends elsewhere than its last piece is cut off, which no piece of it shows.
	return s.each(`SELECT l.org, l.run, l.stream, l.attempt, ifnull(p.start, 0), p.sealed,
			l.size = (SELECT ifnull(sum(size), 0) FROM run_log_pieces WHERE org = l.org AND run = l.run
				AND stream = l.stream AND attempt = l.attempt)
		FROM run_logs l LEFT JOIN run_log_pieces p
			ON p.org = l.org AND p.run = l.run AND p.stream = l.stream AND p.attempt = l.attempt`,
		func(rows *sql.Rows, org *uuid.UUID) (string, error) {
			var log runs.LogRef
			var start int64
			var bytes []byte
			var whole bool
			if err := rows.Scan(org, &log.ID, &log.Stream, &log.Attempt, &start, &bytes, &whole); err != nil {
				return "a log", err
			}
			what := fmt.Sprintf("the log %s/%d of the run %s of %s", log.Stream, log.Attempt, log.ID, org)
			if !whole {
				return what, fmt.Errorf("its pieces have not as many bytes as it")
			}
			if bytes == nil {
				return what, nil
			}
			_, err := s.sealer.Open(s.ctx, *org, runs.SealedLog, log.SealedAs(start), bytes)
			return what, err
		})
}

func (s sealed) files() error {
	var all []runs.File // the database is asked for their pieces by one connection
	err := s.each("SELECT org, run, kind, attempt, digest, pieces FROM run_files",
		func(rows *sql.Rows, org *uuid.UUID) (string, error) {
			var file runs.File
			err := rows.Scan(org, &file.ID, &file.Kind, &file.Attempt, &file.Digest, &file.Pieces)
			if file.Org = *org; err == nil {
				all = append(all, file)
			}
			return "a file of a run", err
		})
	for _, file := range all {
		if err := s.file(file); err != nil {
			s.unreadable(fmt.Sprintf("the file %s/%d of the run %s of %s", file.Kind, file.Attempt, file.ID, file.Org), err)
		}
		if ended := s.ctx.Err(); ended != nil {
			return ended
		}
	}
	return err
}

// file reads a file to its end, and compares its digest. That of a log is of what came, before it was masked.
func (s sealed) file(file runs.File) error {
	from := digest.NewReader(s.sealer.OpenPieces(s.ctx, file.Org, seal.Kind(file.Kind), file.SealedAs(),
		func(index int) (bytes []byte, err error) {
			if index >= file.Pieces {
				return nil, io.EOF
			}
			err = s.db.QueryRowContext(s.ctx, `SELECT sealed FROM run_file_pieces
				WHERE org = ? AND run = ? AND kind = ? AND attempt = ? AND piece = ?`,
				file.Org.String(), file.ID, file.Kind, file.Attempt, index).Scan(&bytes)
			return bytes, err
		}), 0, nil)
	if _, err := io.Copy(io.Discard, from); err != nil {
		return err
	}
	if got := from.Sum().String(); got != file.Digest && !file.Kind.Masked() {
		return fmt.Errorf("its digest is %s, and not %s", got, file.Digest)
	}
	return nil
}
