-- +goose Up

-- The last event of each organization that retention has removed (see audit.Checkpoint). The row of no organization
-- says up to which event the log has no rows at all any more.
CREATE TABLE audit_checkpoints (
  org      TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL,
  place    INTEGER NOT NULL,  -- in the chain; 0 for one from before it
  hash     BLOB NOT NULL,
  at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
