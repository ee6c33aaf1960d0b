-- +goose Up

-- "Holo": tells `file` and an operator that this database is an outbox of ours.
PRAGMA application_id = 0x486f6c6f;

-- One row is a batch that was sent out and isn't known to be on both sides. Rows go away
-- once they are: the table is empty when nothing is owed.
CREATE TABLE batches (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT, -- within an organization: the order
  org     TEXT NOT NULL,
  id      TEXT NOT NULL,
  digest  BLOB NOT NULL,
  request TEXT NOT NULL,
  at      INTEGER NOT NULL,                  -- the timestamp of its records, in microseconds since 1970, UTC
  count   INTEGER NOT NULL,
  -- Which sides the batch is owed to, and which surely have it: 1 is csv, 2 is the database, 3 is both.
  owes    INTEGER NOT NULL,
  taken   INTEGER NOT NULL,
  -- The resources: a gob, compressed with zstd.
  body    BLOB NOT NULL,
  UNIQUE (org, id)
) STRICT;
