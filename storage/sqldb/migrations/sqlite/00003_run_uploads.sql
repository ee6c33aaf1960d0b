-- +goose Up

-- The upload that the pieces of a file are of, while the file is not complete: those of two are
-- not to be mixed.
CREATE TABLE run_uploads (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  upload  TEXT NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) STRICT, WITHOUT ROWID;
