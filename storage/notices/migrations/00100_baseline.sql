-- +goose Up

-- "Holn": tells `file` and an operator that this database has notices of ours.
PRAGMA application_id = 0x486f6c6e;

-- How far the audit log was read for notices: one row, once it is known.
CREATE TABLE notice_position (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL
) STRICT;

-- One row is a notice that waits to be told. It goes when its receiver has it, or when it was given
-- up: the table is empty when nothing waits.
CREATE TABLE notices (
  org      TEXT NOT NULL,
  sequence INTEGER NOT NULL,  -- of the event in the audit log
  at       INTEGER NOT NULL,  -- when that was, in microseconds since 1970: a log from a backup counts again
  event    BLOB NOT NULL,     -- the event, as JSON
  PRIMARY KEY (org, sequence, at)
) STRICT;
