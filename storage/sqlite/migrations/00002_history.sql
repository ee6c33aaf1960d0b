-- +goose Up

ALTER TABLE states ADD COLUMN lock_seen INTEGER;  -- the holder's last sign of life
UPDATE states SET lock_seen = lock_since WHERE lock_since IS NOT NULL;

-- What a list of held locks reads.
CREATE INDEX states_locked ON states (org, name) WHERE lock_id IS NOT NULL;

ALTER TABLE versions ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN resources INTEGER NOT NULL DEFAULT -1;     -- not known
ALTER TABLE versions ADD COLUMN warnings TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN origin_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN origin_candidate TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN purged INTEGER NOT NULL DEFAULT 0;         -- its bytes were destroyed

-- Lock IDs that were released: none of them is ever granted again.
CREATE TABLE lock_ids (
  state INTEGER NOT NULL REFERENCES states (id),
  id    TEXT NOT NULL,
  PRIMARY KEY (state, id)
) STRICT, WITHOUT ROWID;
INSERT INTO lock_ids (state, id) SELECT id, released_id FROM states WHERE released_id <> '';

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
  key               TEXT NOT NULL,
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
  key      TEXT NOT NULL,
  key_name TEXT NOT NULL,
  subject  TEXT NOT NULL,
  role     TEXT NOT NULL,
  address  TEXT NOT NULL,
  request  TEXT NOT NULL
) STRICT;
CREATE INDEX events_org ON events (org);
CREATE INDEX events_state ON events (org, state);
-- Nearly all events have one of these actions: no write and no lock pays for this one.
CREATE INDEX events_rare ON events (org, action) WHERE action NOT IN ('state.write', 'lock.take', 'lock.release');
