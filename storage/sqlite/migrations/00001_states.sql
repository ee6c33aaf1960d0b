-- +goose Up

-- "Hold": tells `file`, an operator and Open that this database is ours.
PRAGMA application_id = 0x486f6c64;

-- One row is the head of one state, from the first LOCK or write on.
CREATE TABLE states (
  id          INTEGER PRIMARY KEY,
  -- The organization's UUID as text: who opens this file with sqlite3 can read it and
  -- paste it, which 20 bytes more in each row are worth.
  org         TEXT NOT NULL,
  name        TEXT NOT NULL,
  -- versions.id of the newest version; null before the first write. No foreign key: to
  -- delete a version would then mean to search every state.
  newest      INTEGER,
  deleted_at  INTEGER,                     -- null while the state is not deleted
  released_id TEXT NOT NULL DEFAULT '',    -- the lock ID that was released last

  -- The held lock; all of it null while nobody holds it.
  lock_id        TEXT,
  lock_operation TEXT,
  lock_info      TEXT,
  lock_who       TEXT,
  lock_version   TEXT,
  lock_created   TEXT,
  lock_path      TEXT,
  lock_raw       BLOB,                     -- the LockInfo as the client sent it
  lock_since     INTEGER,
  lock_key       TEXT,

  UNIQUE (org, name)
) STRICT;

-- One row is one accepted write. Rows are only ever appended, so that a write touches
-- few pages; the unique index has a state's versions in order.
CREATE TABLE versions (
  id                INTEGER PRIMARY KEY,
  state             INTEGER NOT NULL REFERENCES states (id),
  number            INTEGER NOT NULL,
  serial            INTEGER NOT NULL,      -- an uint64 in two's complement
  lineage           TEXT NOT NULL,
  terraform_version TEXT NOT NULL,
  encrypted         INTEGER NOT NULL,      -- by the client
  size              INTEGER NOT NULL,      -- of the bytes as they came
  digest            BLOB NOT NULL,         -- their SHA-256
  created_at        INTEGER NOT NULL,
  key               TEXT NOT NULL,
  address           TEXT NOT NULL,
  request           TEXT NOT NULL,
  who               TEXT NOT NULL,
  operation         TEXT NOT NULL,
  UNIQUE (state, number)
) STRICT;

-- A version's bytes, apart from what describes it: lists never read them, and one
-- version's bytes go away with one row.
CREATE TABLE bodies (
  id       INTEGER PRIMARY KEY REFERENCES versions (id),
  encoding TEXT NOT NULL,                  -- 'raw' or 'zstd'
  bytes    BLOB NOT NULL
) STRICT;

-- What the readiness probe writes to, and takes away again.
CREATE TABLE probe (
  id     INTEGER PRIMARY KEY,
  filler BLOB NOT NULL
) STRICT;

-- Times are microseconds since 1970, UTC.
