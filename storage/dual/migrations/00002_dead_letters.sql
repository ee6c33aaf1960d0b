-- +goose Up

-- Which sides have refused the batch for good, while it is still owed to the other one and
-- nobody knows whether that one has it; and why they did.
ALTER TABLE batches ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- One row is a batch that one side has and the other one refuses for good. It stays until
-- an operator has it tried again, or discards it.
CREATE TABLE dead_letters (
  number  INTEGER PRIMARY KEY AUTOINCREMENT, -- what an operator calls it
  org     TEXT NOT NULL,
  id      TEXT NOT NULL,
  digest  BLOB NOT NULL,
  request TEXT NOT NULL,
  at      INTEGER NOT NULL,                  -- its timestamp on the side that has it
  buried  INTEGER NOT NULL,                  -- when it was put here
  count   INTEGER NOT NULL,
  -- The sides that refuse it: 1 is csv, 2 is mysql.
  refused INTEGER NOT NULL,
  reason  TEXT NOT NULL,
  body    BLOB NOT NULL
) STRICT;
