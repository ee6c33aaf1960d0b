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

-- A run: all of it as JSON, beside what it is found by. Those columns are derived from it.
CREATE TABLE runs (
  org        TEXT NOT NULL,
  id         TEXT NOT NULL,              -- a ULID: sorts by time of creation
  revision   INTEGER NOT NULL,           -- grows with each change
  events     INTEGER NOT NULL,           -- the last one's sequence
  workspace  TEXT NOT NULL,
  kind       TEXT NOT NULL,
  status     TEXT NOT NULL,
  pool       TEXT NOT NULL,
  priority   INTEGER NOT NULL,           -- the lowest goes first
  not_before INTEGER NOT NULL,
  open       TEXT,                       -- the workspace, until the run ends
  line       TEXT,                       -- the workspace, while the run waits for its slot
  queue      TEXT,                       -- the pool, while the run may be claimed
  agent      TEXT,                       -- who has the run
  due        INTEGER,                    -- when somebody has to look at it
  ended      INTEGER,
  leaves     INTEGER,                    -- of those that ended, the lowest goes first where there is no room
  made_by    BLOB,                       -- SHA-256 of the key of the call that made it
  body       BLOB NOT NULL,
  PRIMARY KEY (org, id)
) STRICT;
CREATE UNIQUE INDEX runs_made_by ON runs (org, made_by) WHERE made_by IS NOT NULL;
CREATE INDEX runs_of_workspace ON runs (org, workspace, id);
CREATE INDEX runs_of_kind ON runs (org, kind, status, id);
CREATE INDEX runs_of_workspace_kind ON runs (org, workspace, kind, status, id);
CREATE INDEX runs_open ON runs (org, open, id) WHERE open IS NOT NULL;
CREATE INDEX runs_line ON runs (org, line, priority, id) WHERE line IS NOT NULL;
CREATE INDEX runs_queue ON runs (queue, org, priority, id, not_before) WHERE queue IS NOT NULL;
CREATE INDEX runs_agent ON runs (org, agent) WHERE agent IS NOT NULL;
CREATE INDEX runs_due ON runs (due, org, id) WHERE due IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended, org, id) WHERE ended IS NOT NULL;
CREATE INDEX runs_leaves ON runs (org, leaves) WHERE leaves IS NOT NULL;

CREATE TABLE run_events (
  org      TEXT NOT NULL,
  run      TEXT NOT NULL,
  sequence INTEGER NOT NULL,             -- from 1
  body     BLOB NOT NULL,                -- JSON
  PRIMARY KEY (org, run, sequence)
) STRICT;

-- A workspace whose slot somebody holds or waits for.
CREATE TABLE run_lines (
  org       TEXT NOT NULL,
  workspace TEXT NOT NULL,
  holder    TEXT NOT NULL,               -- the run that has the slot; empty for none
  head      TEXT NOT NULL,               -- the waiting run that may be claimed; empty while it is held
  PRIMARY KEY (org, workspace)
) STRICT, WITHOUT ROWID;

-- Which organizations have runs that may be claimed.
CREATE TABLE run_queues (
  pool     TEXT NOT NULL,
  org      TEXT NOT NULL,
  priority INTEGER NOT NULL,
  first_id TEXT NOT NULL,                -- of those that may be claimed, the smallest
  ready    INTEGER NOT NULL,             -- its not_before
  PRIMARY KEY (pool, org, priority)
) STRICT, WITHOUT ROWID;

-- When an organization last claimed from a pool, counted in claims.
CREATE TABLE run_turns (
  pool TEXT NOT NULL,
  org  TEXT NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (pool, org)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_turns_last ON run_turns (pool, turn);

-- What an organization has of runs.
CREATE TABLE run_tallies (
  org     TEXT NOT NULL PRIMARY KEY,
  waiting INTEGER NOT NULL,
  working INTEGER NOT NULL,
  kept    INTEGER NOT NULL,              -- rows of runs
  bytes   INTEGER NOT NULL               -- of pieces of logs and files, as they are kept
) STRICT, WITHOUT ROWID;

CREATE TABLE run_logs (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  stream  TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  size    INTEGER NOT NULL,              -- where it ends
  PRIMARY KEY (org, run, stream, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_log_pieces (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  stream  TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  start   INTEGER NOT NULL,
  size    INTEGER NOT NULL,              -- of the plain bytes
  sealed  BLOB NOT NULL,
  PRIMARY KEY (org, run, stream, attempt, start)
) STRICT;

-- The files that are complete.
CREATE TABLE run_files (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  digest  TEXT NOT NULL,
  pieces  INTEGER NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_file_pieces (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  piece   INTEGER NOT NULL,
  sealed  BLOB NOT NULL,
  PRIMARY KEY (org, run, kind, attempt, piece)
) STRICT;

CREATE TABLE run_pools (
  org        TEXT NOT NULL,
  name       TEXT NOT NULL,
  token_hash BLOB NOT NULL UNIQUE,       -- SHA-256
  body       BLOB NOT NULL,              -- JSON
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_agents (
  id   TEXT NOT NULL PRIMARY KEY,
  org  TEXT NOT NULL,
  pool TEXT NOT NULL,
  seen INTEGER NOT NULL,
  body BLOB NOT NULL                     -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX run_agents_of_pool ON run_agents (org, pool, id);
CREATE INDEX run_agents_seen ON run_agents (seen);

-- The upload that the pieces of a file are of, while the file is not complete: those of two are
-- not to be mixed.
CREATE TABLE run_uploads (
  org     TEXT NOT NULL,
  run     TEXT NOT NULL,
  kind    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  upload  TEXT NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) STRICT, WITHOUT ROWID;

-- The texts of auth.cfg, of which the one with the highest number counts. at is the database's time.
CREATE TABLE auth_revisions (
  number  INTEGER NOT NULL PRIMARY KEY,
  at      INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  digest  TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

CREATE TABLE auth_pieces (
  number INTEGER NOT NULL,
  piece  INTEGER NOT NULL,
  bytes  BLOB NOT NULL,
  PRIMARY KEY (number, piece)
) STRICT;

-- Which copy of auth.cfg each running node has in force, and when it was last heard of.
CREATE TABLE auth_copies (
  node     TEXT NOT NULL PRIMARY KEY,
  name     TEXT NOT NULL,
  revision INTEGER NOT NULL,
  digest   TEXT NOT NULL,
  shredded TEXT NOT NULL,
  at       INTEGER NOT NULL,
  seen     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When and from where credentials were last used, on whichever node.
CREATE TABLE key_uses (
  org     TEXT NOT NULL,
  key_id  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (org, key_id)
) STRICT, WITHOUT ROWID;

-- Which node does what only one may do, until when by the database's time.
CREATE TABLE node_turns (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The notices that wait to be told, and how far the audit log was read for them.
CREATE TABLE notices (
  org      TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  event    BLOB NOT NULL,
  PRIMARY KEY (org, sequence, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE notice_position (
  id       INTEGER NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT;

-- The sessions of people who use the page. There is no token in it, but the SHA-256 of each.
CREATE TABLE sessions (
  org      TEXT NOT NULL,
  hash     TEXT NOT NULL,                -- in hexadecimal
  holder   TEXT NOT NULL,                -- SHA-256 of whose it is, in hexadecimal
  login    TEXT NOT NULL,                -- JSON: how it began
  began_at INTEGER NOT NULL,
  seen_at  INTEGER NOT NULL,
  ends_at  INTEGER NOT NULL,
  address  TEXT NOT NULL,
  agent    TEXT NOT NULL,
  PRIMARY KEY (org, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_holder ON sessions (org, holder, seen_at);
CREATE INDEX sessions_seen ON sessions (seen_at);
CREATE INDEX sessions_ends ON sessions (ends_at);

-- The order in which an organization's runs have changed last, for who follows them.
CREATE TABLE run_changes (
  org    TEXT NOT NULL,
  number INTEGER NOT NULL,
  run    TEXT NOT NULL,
  PRIMARY KEY (org, number),
  UNIQUE (org, run)
) STRICT, WITHOUT ROWID;
-- The last of an organization's numbers.
CREATE TABLE run_changed (
  org    TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many runs have ended on a day, in UTC, and how. Those that are removed count no more.
CREATE TABLE run_days (
  org    TEXT NOT NULL,
  day    INTEGER NOT NULL,               -- since 1970
  status TEXT NOT NULL,
  runs   INTEGER NOT NULL,
  PRIMARY KEY (org, day, status)
) STRICT, WITHOUT ROWID;

-- What shows that who has written a row about auth.cfg has the master key: a revision, or a node's copy.
CREATE TABLE auth_marks (
  what TEXT NOT NULL PRIMARY KEY,
  mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Pull requests of repositories, with what was planned of them.
CREATE TABLE pull_requests (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  number     INTEGER NOT NULL,           -- at the forge
  due        INTEGER NOT NULL,           -- when it is looked at, in microseconds; 0 for never
  hints      INTEGER NOT NULL,           -- how often somebody said that something may have happened
  claim      TEXT NOT NULL,              -- of who looks at it; empty for nobody
  claimed    INTEGER NOT NULL,           -- until when
  revision   INTEGER NOT NULL,
  body       TEXT NOT NULL,              -- JSON
  PRIMARY KEY (org, repository, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pull_requests_by_due ON pull_requests (due) WHERE due > 0;

-- What repositories want of pull requests.
CREATE TABLE pull_settings (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  body       TEXT NOT NULL,              -- JSON
  PRIMARY KEY (org, repository)
) STRICT, WITHOUT ROWID;

-- Layers: workspaces whose configuration comes from a repository, with what is remembered of each.
CREATE TABLE layers (
  org        TEXT NOT NULL,
  name       TEXT NOT NULL,
  repository TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,           -- microseconds; 0 for never
  checking   INTEGER NOT NULL,           -- 1 while a check for drift goes on
  document   TEXT NOT NULL,              -- JSON: all else
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX layers_due ON layers (due_at);
CREATE INDEX layers_of_repository ON layers (org, repository, name);
CREATE INDEX layers_checking ON layers (org, checking);

-- The workspaces that are in a trouble by how their runs have ended that are still there.
CREATE TABLE run_troubles (
  org       TEXT NOT NULL,
  workspace TEXT NOT NULL,
  trouble   TEXT NOT NULL,
  run       TEXT NOT NULL,               -- the newest that says so
  ended     INTEGER NOT NULL,
  PRIMARY KEY (org, workspace, trouble)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_troubles_newest ON run_troubles (org, trouble, run);

-- Where configurations come from. The credentials are sealed under the ID.
CREATE TABLE repositories (
  org         TEXT NOT NULL,
  name        TEXT NOT NULL,
  id          TEXT NOT NULL UNIQUE,      -- random; the address of its webhook has it
  settings    TEXT NOT NULL,             -- JSON
  sealed      BLOB NOT NULL,
  revision    INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  updated_by  TEXT NOT NULL,             -- JSON: who
  status      TEXT NOT NULL,             -- JSON: how the newest fetch went
  tried_at    INTEGER NOT NULL,          -- when that began
  due_at      INTEGER NOT NULL,          -- when it is fetched next
  hints       INTEGER NOT NULL,          -- how many there were
  claim       TEXT NOT NULL,             -- token of who fetches it; empty for nobody
  claim_until INTEGER NOT NULL,
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX repositories_due ON repositories (due_at);

-- What was dealt with of what git servers have told: digests of IDs and of bodies.
CREATE TABLE repository_deliveries (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  what       TEXT NOT NULL,
  noted_at   INTEGER NOT NULL,
  done       INTEGER NOT NULL,
  PRIMARY KEY (org, repository, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX repository_deliveries_noted ON repository_deliveries (noted_at);

-- Bundles of policies, by version. The workspace of the organization's own is empty.
CREATE TABLE policies (
  org       TEXT NOT NULL,
  workspace TEXT NOT NULL,
  name      TEXT NOT NULL,
  version   INTEGER NOT NULL,
  about     TEXT NOT NULL,               -- JSON
  files     BLOB NOT NULL,               -- JSON
  PRIMARY KEY (org, workspace, name, version)
) STRICT;

-- What checks of a layer have found, by the day in UTC on which they ended.
CREATE TABLE layer_days (
  org     TEXT NOT NULL,
  day     INTEGER NOT NULL,              -- since 1970
  layer   TEXT NOT NULL,
  checks  INTEGER NOT NULL,
  found   INTEGER NOT NULL,              -- checks that have found drift
  drifted INTEGER NOT NULL,              -- resources, at the end of the day
  fresh   INTEGER NOT NULL,              -- resources that had not drifted before
  healed  INTEGER NOT NULL,              -- resources that are as planned again
  PRIMARY KEY (org, day, layer)
) STRICT, WITHOUT ROWID;
CREATE INDEX layer_days_of_layer ON layer_days (org, layer, day);
