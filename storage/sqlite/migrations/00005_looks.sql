-- +goose Up

-- What a list of deleted states reads, however many others there are.
CREATE INDEX states_deleted ON states (org, name, deleted_at) WHERE deleted_at IS NOT NULL;

-- 1 when the state was brought back since its newest version was written.
ALTER TABLE states ADD COLUMN undeleted INTEGER NOT NULL DEFAULT 0;

-- One row: how many purges have destroyed bytes, and for how many of them the copies that
-- SQLite left in the files are overwritten too. What was purged before this table was there
-- counts as one whose copies may be left.
CREATE TABLE sweeps (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  owed INTEGER NOT NULL,
  done INTEGER NOT NULL
) STRICT;
INSERT INTO sweeps (id, owed, done) SELECT 1, EXISTS (SELECT 1 FROM versions WHERE purged = 1), 0;
