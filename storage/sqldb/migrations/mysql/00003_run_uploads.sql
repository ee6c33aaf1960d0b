-- +goose NO TRANSACTION
-- +goose Up

-- The upload that the pieces of a file are of, while the file is not complete: those of two are
-- not to be mixed.
CREATE TABLE IF NOT EXISTS run_uploads (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  kind    VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  upload  VARBINARY(64) NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) ENGINE = InnoDB;
