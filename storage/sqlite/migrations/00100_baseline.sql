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
  lock_seen      INTEGER,                  -- the holder's last sign of life

  -- 1 when the state was brought back since its newest version was written.
  undeleted INTEGER NOT NULL DEFAULT 0,
  -- Whose a state was that is being removed in pieces: org is empty by then, and what is left
  -- still takes up room.
  owner TEXT,
  -- Whether it has any rows of purged: nearly none has, and no write of theirs looks for them.
  purges INTEGER NOT NULL DEFAULT 0,

  -- Which run may lock and write the state, in which of its epochs, and whether it still may.
  fence_run   TEXT NOT NULL DEFAULT '',
  fence_epoch INTEGER NOT NULL DEFAULT 0,
  fence_open  INTEGER NOT NULL DEFAULT 0,
  -- The run that holds the lock, and the epoch in which it took it; null for everybody else.
  lock_run    TEXT,
  lock_epoch  INTEGER,

  -- The change of the state that somebody has announced, as JSON; null for none, as nearly always.
  expected TEXT,

  UNIQUE (org, name)
) STRICT;

-- What the lists of held locks, of deleted states and of expected changes read, however many others there are.
CREATE INDEX states_locked ON states (org, name) WHERE lock_id IS NOT NULL;
CREATE INDEX states_deleted ON states (org, name, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX states_expected ON states (org, name) WHERE expected IS NOT NULL;

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
  key_id            TEXT NOT NULL,
  address           TEXT NOT NULL,
  request           TEXT NOT NULL,
  who               TEXT NOT NULL,
  operation         TEXT NOT NULL,
  subject           TEXT NOT NULL DEFAULT '',
  resources         INTEGER NOT NULL DEFAULT -1,     -- not known
  warnings          TEXT NOT NULL DEFAULT '',
  origin_version    INTEGER NOT NULL DEFAULT 0,
  origin_candidate  TEXT NOT NULL DEFAULT '',
  reason            TEXT NOT NULL DEFAULT '',
  purged            INTEGER NOT NULL DEFAULT 0,      -- its bytes were destroyed
  UNIQUE (state, number)
) STRICT;

-- A version's bytes, apart from what describes it: lists never read them, and one
-- version's bytes go away with one row.
CREATE TABLE bodies (
  id       INTEGER PRIMARY KEY REFERENCES versions (id),
  -- 'raw', 'zstd', or 'delta' for what a version has that another one of the same state has not.
  encoding TEXT NOT NULL,
  bytes    BLOB NOT NULL,
  -- That one's bodies.id, and null in rows that stand on their own; its own base is null. No foreign
  -- key: to delete a body would then mean to search them all.
  base     INTEGER
) STRICT;

-- What the readiness probe writes to, and takes away again.
CREATE TABLE probe (
  id     INTEGER PRIMARY KEY,
  filler BLOB NOT NULL
) STRICT;

-- Lock IDs that were released: none of them is ever granted again.
CREATE TABLE lock_ids (
  state INTEGER NOT NULL REFERENCES states (id),
  id    TEXT NOT NULL,
  PRIMARY KEY (state, id)
) STRICT, WITHOUT ROWID;

-- Bodies that are no versions, or not yet. The columns that versions have too mean the
-- same; number is that of the newest version when the candidate came.
CREATE TABLE candidates (
  row               INTEGER PRIMARY KEY,
  state             INTEGER NOT NULL REFERENCES states (id),
  id                TEXT NOT NULL,
  source            TEXT NOT NULL,         -- 'held' or 'pushed'
  status            TEXT NOT NULL,         -- 'open', 'promoted' or 'discarded'
  decided_at        INTEGER,               -- null while it is open
  number            INTEGER NOT NULL,
  serial            INTEGER NOT NULL,
  lineage           TEXT NOT NULL,
  terraform_version TEXT NOT NULL,
  encrypted         INTEGER NOT NULL,
  size              INTEGER NOT NULL,
  digest            BLOB NOT NULL,
  created_at        INTEGER NOT NULL,
  key_id            TEXT NOT NULL,
  address           TEXT NOT NULL,
  request           TEXT NOT NULL,
  who               TEXT NOT NULL,
  operation         TEXT NOT NULL,
  subject           TEXT NOT NULL,
  resources         INTEGER NOT NULL,
  warnings          TEXT NOT NULL,
  origin_version    INTEGER NOT NULL,
  origin_candidate  TEXT NOT NULL,
  reason            TEXT NOT NULL,
  purged            INTEGER NOT NULL,
  encoding          TEXT NOT NULL,
  bytes             BLOB,                  -- null once it is decided
  -- The digest of the body without its serial: tries of one write have the same one.
  content           BLOB NOT NULL DEFAULT x'',
  UNIQUE (state, id)
) STRICT;
-- Open ones are few; those that were decided pile up.
CREATE INDEX candidates_open ON candidates (state) WHERE status = 'open';
CREATE INDEX candidates_decided ON candidates (state) WHERE status <> 'open';

-- The audit log. Rows are only ever appended, and none is ever removed.
CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  org      TEXT NOT NULL,
  action   TEXT NOT NULL,
  state    TEXT NOT NULL,
  version  INTEGER NOT NULL,
  lock_id  TEXT NOT NULL,
  refused  TEXT NOT NULL,
  reason   TEXT NOT NULL,
  note     TEXT NOT NULL,
  key_id   TEXT NOT NULL,
  key_name TEXT NOT NULL,
  subject  TEXT NOT NULL,
  role     TEXT NOT NULL,
  address  TEXT NOT NULL,
  request  TEXT NOT NULL,
  listed   INTEGER NOT NULL DEFAULT 1,
  -- Each event is chained to the one before it in its organization: place is its number in the chain, from 1, and
  -- hash says what it and all before it are (see audit.Chain).
  place    INTEGER NOT NULL DEFAULT 0,
  hash     BLOB
) STRICT;
-- The events that an organization and a state have are listed for many of them at once: each
-- list has pages of its own, which a lock or a write would change for one entry. Events that
-- are not listed yet are the last few of the log.
CREATE INDEX events_org ON events (org) WHERE listed = 1;
CREATE INDEX events_state ON events (org, state) WHERE listed = 1;
-- Nearly all events have one of these actions: no write and no lock pays for this one.
CREATE INDEX events_rare ON events (org, action) WHERE action NOT IN ('state.write', 'lock.take', 'lock.release');

-- How far each organization's chain has come.
CREATE TABLE chains (
  org      TEXT PRIMARY KEY,
  seed     BLOB NOT NULL,     -- random; it is in each hash
  first    INTEGER NOT NULL,  -- sequence of the first event
  sequence INTEGER NOT NULL,  -- of the newest event, with its place and its hash
  place    INTEGER NOT NULL,
  hash     BLOB NOT NULL
) STRICT, WITHOUT ROWID;


-- The last event of each organization that retention has removed (see audit.Checkpoint). The row of no organization
-- says up to which event the log has no rows at all any more.
CREATE TABLE audit_checkpoints (
  org      TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL,
  place    INTEGER NOT NULL,  -- in the chain
  hash     BLOB NOT NULL,
  at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The digests of what was purged, so that the same bytes don't come back unasked. They stay
-- when retention removes the versions that had them.
CREATE TABLE purged (
  state  INTEGER NOT NULL REFERENCES states (id),
  digest BLOB NOT NULL,
  PRIMARY KEY (state, digest)
) STRICT, WITHOUT ROWID;

-- One row: how many purges have destroyed bytes, and for how many of them the copies that
-- SQLite left in the files are overwritten too.
CREATE TABLE sweeps (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  owed INTEGER NOT NULL,
  done INTEGER NOT NULL
) STRICT;
INSERT INTO sweeps (id, owed, done) VALUES (1, 0, 0);

-- The data keys that organizations' states are sealed with, wrapped under a master key.
CREATE TABLE data_keys (
  org     TEXT NOT NULL,
  number  INTEGER NOT NULL,
  id      BLOB NOT NULL,
  wrapped BLOB NOT NULL,
  PRIMARY KEY (org, number)
) STRICT, WITHOUT ROWID;

-- One row, with the first data key: the mark of the master keys that wrap these, which tells other master keys at once.
CREATE TABLE sealing (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  mark   BLOB NOT NULL
) STRICT;

-- How many bytes are kept for an organization: what state.Store says of Usage. Triggers keep
-- it, so that whatever changes a row changes the sum with it, in one transaction.
CREATE TABLE usage (
  org   TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is removed or replaced is measured where it is, before it goes: OLD.bytes would be
-- read into memory for its length.

-- +goose StatementBegin
CREATE TRIGGER usage_state_added AFTER INSERT ON states BEGIN
  INSERT INTO usage (org, bytes) VALUES (NEW.org, 512) ON CONFLICT (org) DO UPDATE SET bytes = bytes + 512;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_state_removed AFTER DELETE ON states BEGIN
  UPDATE usage SET bytes = bytes - 512 - 2 * (max(ifnull(length(OLD.lock_raw), 0), 1024) - 1024)
    WHERE org = ifnull(OLD.owner, OLD.org);
END;
-- +goose StatementEnd

-- The locks of usual clients cost nothing here.
-- +goose StatementBegin
CREATE TRIGGER usage_lock AFTER UPDATE OF lock_raw ON states
  WHEN length(NEW.lock_raw) > 1024 OR length(OLD.lock_raw) > 1024
BEGIN
  UPDATE usage SET bytes = bytes + 2 * (max(ifnull(length(NEW.lock_raw), 0), 1024) - max(ifnull(length(OLD.lock_raw), 0), 1024))
    WHERE org = ifnull(NEW.owner, NEW.org);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_version_added AFTER INSERT ON versions BEGIN
  UPDATE usage SET bytes = bytes + 512 WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = NEW.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_version_removed AFTER DELETE ON versions BEGIN
  UPDATE usage SET bytes = bytes - 512 WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- What sealing adds to bytes, 53 of them, is not counted.

-- +goose StatementBegin
CREATE TRIGGER usage_body_added AFTER INSERT ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes) - 53
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_replaced BEFORE UPDATE OF bytes ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes) - 53
      - (SELECT length(b.bytes) - 53 FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_removed BEFORE DELETE ON bodies BEGIN
  UPDATE usage SET bytes = bytes - (SELECT length(b.bytes) - 53 FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_added AFTER INSERT ON candidates BEGIN
  UPDATE usage SET bytes = bytes + 512 + ifnull(length(NEW.bytes) - 53, 0)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = NEW.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_settled BEFORE UPDATE OF bytes ON candidates BEGIN
  UPDATE usage SET bytes = bytes + ifnull(length(NEW.bytes) - 53, 0)
      - (SELECT ifnull(length(c.bytes) - 53, 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_removed BEFORE DELETE ON candidates BEGIN
  UPDATE usage SET bytes = bytes - 512
      - (SELECT ifnull(length(c.bytes) - 53, 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- Times are microseconds since 1970, UTC.
