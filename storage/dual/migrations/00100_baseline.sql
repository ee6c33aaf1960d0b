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
  at      INTEGER NOT NULL,                  -- the timestamp of its records
  since   INTEGER NOT NULL,                  -- when it was put here
  count   INTEGER NOT NULL,
  -- Which sides the batch is owed to: 1 is csv, 2 is mysql, 3 is both.
  owes    INTEGER NOT NULL,
  -- The resources: a gob, compressed with zstd.
  body    BLOB NOT NULL,
  -- Which sides have refused the batch for good, while it is still owed to the other one and
  -- nobody knows whether that one has it; and why they did.
  refused INTEGER NOT NULL DEFAULT 0,
  reason  TEXT NOT NULL DEFAULT '',
  -- Which of these did so only because they know its ID for another one: if the other side
  -- turns out to have it, they are owed it by another ID.
  knows   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (org, id)
) STRICT;

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
  body    BLOB NOT NULL,
  -- The timestamp with which it was last tried again, and nobody knows whether the side has it
  -- by that; 0 is none. How many like it the side had by that timestamp before; and how many of
  -- them were other dead letters, recorded or found there since.
  tried   INTEGER NOT NULL DEFAULT 0,
  alike   INTEGER NOT NULL DEFAULT 0,
  taken   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What an operator has given up: how many records of an organization a side lacks for good,
-- and the timestamp of the newest of them on the side that has them.
CREATE TABLE discarded (
  org     TEXT NOT NULL,
  refused INTEGER NOT NULL, -- the side that lacks them: 1 is csv, 2 is mysql
  records INTEGER NOT NULL,
  newest  INTEGER NOT NULL,
  PRIMARY KEY (org, refused)
) STRICT;

-- Times are microseconds since 1970, UTC.
