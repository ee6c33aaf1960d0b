-- +goose Up

-- "HfUp": tells `file`, an operator and Open that this database is ours.
PRAGMA application_id = 0x48665570;

-- One row is one organization's file, from before its first record on.
CREATE TABLE orgs (
  id      INTEGER PRIMARY KEY,
  org     TEXT NOT NULL UNIQUE,
  length  INTEGER NOT NULL,      -- of the file, up to the end of its last recorded upload
  newest  INTEGER NOT NULL,      -- timestamp of the newest record
  records INTEGER NOT NULL,
  line    INTEGER NOT NULL,      -- number of the line behind the last record
  inode   INTEGER NOT NULL,      -- of the file, as it was left
  changed INTEGER NOT NULL,      -- when the file had been changed last, in nanoseconds
  -- What was removed behind the header so far. All offsets and lines here, length and line too, count that as if
  -- it were there.
  base       INTEGER NOT NULL DEFAULT 0,
  base_lines INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row is a piece of a file: whole rows, about 256 KiB of them. All but an
-- organization's last one never change again.
CREATE TABLE segments (
  org     INTEGER NOT NULL REFERENCES orgs (id),
  start   INTEGER NOT NULL,      -- offset in the file
  length  INTEGER NOT NULL,
  records INTEGER NOT NULL,
  line    INTEGER NOT NULL,      -- number of its first line
  first   INTEGER NOT NULL,      -- timestamps of its first and last record
  last    INTEGER NOT NULL,
  crc     INTEGER NOT NULL,      -- CRC-32C
  lf      INTEGER NOT NULL,      -- 1 if lines may end in LF alone, as another program wrote them
  PRIMARY KEY (org, start)
) STRICT, WITHOUT ROWID;

-- One row is one recorded batch; it is forgotten after a week. Rows are appended in the
-- order of time, so that the oldest are found without another index.
CREATE TABLE batches (
  seq     INTEGER PRIMARY KEY,
  org     INTEGER NOT NULL REFERENCES orgs (id),
  id      TEXT NOT NULL,
  digest  BLOB NOT NULL,
  request TEXT NOT NULL,
  at      INTEGER NOT NULL,
  count   INTEGER NOT NULL,
  created INTEGER NOT NULL,      -- when it was recorded, also if at is another time
  start   INTEGER NOT NULL,      -- its bytes in the file: they tell which upload was changed
  length  INTEGER NOT NULL,
  line    INTEGER NOT NULL,
  crc     INTEGER NOT NULL,
  UNIQUE (org, id)
) STRICT;

CREATE TABLE groups (
  org           INTEGER NOT NULL REFERENCES orgs (id),
  provider      TEXT NOT NULL,
  category      TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  count         INTEGER NOT NULL,
  first         INTEGER NOT NULL,
  last          INTEGER NOT NULL,
  PRIMARY KEY (org, provider, category, resource_type)
) STRICT, WITHOUT ROWID;

-- The key of this store's cursors, and what probes write to.
CREATE TABLE meta (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  cursor BLOB NOT NULL,
  probe  INTEGER NOT NULL
) STRICT;
INSERT INTO meta (id, cursor, probe) VALUES (1, randomblob(32), 0);

-- Times are microseconds since 1970, UTC, where nothing else is said.

-- One row has the bytes of one write to a file, until they are known to be on disk there:
-- what a crash took from the file is put back from here.
CREATE TABLE journal (
  org   INTEGER NOT NULL REFERENCES orgs (id),
  start INTEGER NOT NULL,      -- offset in the file
  bytes BLOB NOT NULL,         -- in S2, a block
  PRIMARY KEY (org, start)
) STRICT;
