-- +goose Up

-- "HfRn": tells `file`, an operator and Open that this database is ours.
PRAGMA application_id = 0x4866526e;

-- An organization that something is kept of. Times are microseconds since 1970, UUIDs text.
CREATE TABLE organizations (
  org   TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL DEFAULT 0       -- of its blobs
) STRICT, WITHOUT ROWID;
-- What the readiness probe writes to.
INSERT INTO organizations (org) VALUES ('00000000-0000-0000-0000-000000000000');

-- The data keys that an organization's things are sealed with, wrapped. Nothing is ever removed.
CREATE TABLE data_keys (
  org     TEXT NOT NULL,
  number  INTEGER NOT NULL,
  id      BLOB NOT NULL,
  wrapped BLOB NOT NULL,
  PRIMARY KEY (org, number)
) STRICT, WITHOUT ROWID;

-- A thing that is kept sealed, in pieces, once for its content: a configuration's file, a plan.
CREATE TABLE blobs (
  id      TEXT NOT NULL PRIMARY KEY,     -- random: what its pieces are sealed under
  org     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  digest  BLOB,                          -- SHA-256 of the content; null until all of it is there
  size    INTEGER NOT NULL,              -- of the content
  pieces  INTEGER NOT NULL,
  refs    INTEGER NOT NULL,              -- what needs it
  touched INTEGER NOT NULL,              -- unneeded ones are removed some time after this
  UNIQUE (org, kind, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_unneeded ON blobs (refs, touched);

CREATE TABLE blob_pieces (
  blob_id TEXT NOT NULL,
  piece   INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (blob_id, piece)
) STRICT;

CREATE TABLE workspaces (
  org        TEXT NOT NULL,
  name       TEXT NOT NULL,
  settings   TEXT NOT NULL,              -- JSON
  revision   INTEGER NOT NULL,           -- grows with each change of settings or variables
  snapshot   INTEGER NOT NULL,           -- number of the newest one; 0 for none yet
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,              -- JSON: who
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

-- The variables of a workspace, and those of all workspaces of an organization, whose
-- workspace is empty.
CREATE TABLE variables (
  org        TEXT NOT NULL,
  workspace  TEXT NOT NULL,
  kind       TEXT NOT NULL,              -- terraform or environment
  name       TEXT NOT NULL,
  hcl        INTEGER NOT NULL,
  secret     INTEGER NOT NULL,
  size       INTEGER NOT NULL,           -- of the value
  sealed     BLOB NOT NULL,              -- the value
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (org, workspace, kind, name)
) STRICT;

-- How often the variables of an organization changed: a part of each workspace's revision.
CREATE TABLE organization_variables (
  org      TEXT NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An immutable set of files. Its list is the blob of kind "manifest" with its ID as digest.
CREATE TABLE snapshots (
  org        TEXT NOT NULL,
  id         BLOB NOT NULL,              -- SHA-256 of its list
  files      INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  refs       INTEGER NOT NULL,           -- rows of workspace_snapshots
  PRIMARY KEY (org, id)
) STRICT, WITHOUT ROWID;

-- Which sets of files a workspace has had, one after another.
CREATE TABLE workspace_snapshots (
  org        TEXT NOT NULL,
  workspace  TEXT NOT NULL,
  number     INTEGER NOT NULL,           -- from 1
  snapshot   BLOB NOT NULL,
  message    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (org, workspace, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_snapshots_by_snapshot ON workspace_snapshots (org, snapshot);
CREATE INDEX workspace_snapshots_by_workspace ON workspace_snapshots (workspace);

-- What was done and is not in the audit log yet. Written with what was done.
CREATE TABLE audit_outbox (
  id    TEXT NOT NULL PRIMARY KEY,       -- sorts by time
  org   TEXT NOT NULL,
  event TEXT NOT NULL                    -- JSON
) STRICT, WITHOUT ROWID;
