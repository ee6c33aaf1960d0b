-- +goose Up


-- An organization that something is kept of. Times are microseconds since 1970, UUIDs text.
CREATE TABLE organizations (
  org   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL DEFAULT 0       -- of its blobs
);
-- What the readiness probe writes to.
INSERT INTO organizations (org) VALUES ('00000000-0000-0000-0000-000000000000');

-- The data keys that an organization's things are sealed with, wrapped. Nothing is ever removed.
CREATE TABLE data_keys (
  org     TEXT COLLATE "C" NOT NULL,
  number  BIGINT NOT NULL,
  id      BYTEA NOT NULL,
  wrapped BYTEA NOT NULL,
  PRIMARY KEY (org, number)
);

-- A thing that is kept sealed, in pieces, once for its content: a configuration's file, a plan.
CREATE TABLE blobs (
  id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,     -- random: what its pieces are sealed under
  org     TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  digest  BYTEA,                          -- SHA-256 of the content; null until all of it is there
  size    BIGINT NOT NULL,              -- of the content
  pieces  BIGINT NOT NULL,
  refs    BIGINT NOT NULL,              -- what needs it
  touched BIGINT NOT NULL,              -- unneeded ones are removed some time after this
  UNIQUE (org, kind, digest)
);
CREATE INDEX blobs_unneeded ON blobs (refs, touched);

CREATE TABLE blob_pieces (
  blob_id TEXT COLLATE "C" NOT NULL,
  piece   BIGINT NOT NULL,
  body    BYTEA NOT NULL,
  PRIMARY KEY (blob_id, piece)
);

CREATE TABLE workspaces (
  org        TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  settings   TEXT COLLATE "C" NOT NULL,              -- JSON
  revision   BIGINT NOT NULL,           -- grows with each change of settings or variables
  snapshot   BIGINT NOT NULL,           -- number of the newest one; 0 for none yet
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  updated_by TEXT COLLATE "C" NOT NULL,              -- JSON: who
  PRIMARY KEY (org, name)
);

-- The variables of a workspace, and those of all workspaces of an organization, whose
-- workspace is empty.
CREATE TABLE variables (
  org        TEXT COLLATE "C" NOT NULL,
  workspace  TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,              -- terraform or environment
  name       TEXT COLLATE "C" NOT NULL,
  hcl        BIGINT NOT NULL,
  secret     BIGINT NOT NULL,
  size       BIGINT NOT NULL,           -- of the value
  sealed     BYTEA NOT NULL,              -- the value
  updated_at BIGINT NOT NULL,
  updated_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, workspace, kind, name)
);

-- How often the variables of an organization changed: a part of each workspace's revision.
CREATE TABLE organization_variables (
  org      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  revision BIGINT NOT NULL
);

-- An immutable set of files. Its list is the blob of kind "manifest" with its ID as digest.
CREATE TABLE snapshots (
  org        TEXT COLLATE "C" NOT NULL,
  id         BYTEA NOT NULL,              -- SHA-256 of its list
  files      BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  refs       BIGINT NOT NULL,           -- rows of workspace_snapshots
  PRIMARY KEY (org, id)
);

-- Which sets of files a workspace has had, one after another.
CREATE TABLE workspace_snapshots (
  org        TEXT COLLATE "C" NOT NULL,
  workspace  TEXT COLLATE "C" NOT NULL,
  number     BIGINT NOT NULL,           -- from 1
  snapshot   BYTEA NOT NULL,
  message    TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, workspace, number)
);
CREATE INDEX workspace_snapshots_by_snapshot ON workspace_snapshots (org, snapshot);
CREATE INDEX workspace_snapshots_by_workspace ON workspace_snapshots (workspace);

-- What was done and is not in the audit log yet. Written with what was done.
CREATE TABLE audit_outbox (
  id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,       -- sorts by time
  org   TEXT COLLATE "C" NOT NULL,
  event TEXT COLLATE "C" NOT NULL                    -- JSON
);

-- A run: all of it as JSON, beside what it is found by. Those columns are derived from it.
CREATE TABLE runs (
  org        TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,              -- a ULID: sorts by time of creation
  revision   BIGINT NOT NULL,           -- grows with each change
  events     BIGINT NOT NULL,           -- the last one's sequence
  workspace  TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,
  status     TEXT COLLATE "C" NOT NULL,
  pool       TEXT COLLATE "C" NOT NULL,
  priority   BIGINT NOT NULL,           -- the lowest goes first
  not_before BIGINT NOT NULL,
  open       TEXT COLLATE "C",                       -- the workspace, until the run ends
  line       TEXT COLLATE "C",                       -- the workspace, while the run waits for its slot
  queue      TEXT COLLATE "C",                       -- the pool, while the run may be claimed
  agent      TEXT COLLATE "C",                       -- who has the run
  due        BIGINT,                    -- when somebody has to look at it
  ended      BIGINT,
  leaves     BIGINT,                    -- of those that ended, the lowest goes first where there is no room
  made_by    BYTEA,                       -- SHA-256 of the key of the call that made it
  body       BYTEA NOT NULL,
  PRIMARY KEY (org, id)
);
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
  org      TEXT COLLATE "C" NOT NULL,
  run      TEXT COLLATE "C" NOT NULL,
  sequence BIGINT NOT NULL,             -- from 1
  body     BYTEA NOT NULL,                -- JSON
  PRIMARY KEY (org, run, sequence)
);

-- A workspace whose slot somebody holds or waits for.
CREATE TABLE run_lines (
  org       TEXT COLLATE "C" NOT NULL,
  workspace TEXT COLLATE "C" NOT NULL,
  holder    TEXT COLLATE "C" NOT NULL,               -- the run that has the slot; empty for none
  head      TEXT COLLATE "C" NOT NULL,               -- the waiting run that may be claimed; empty while it is held
  PRIMARY KEY (org, workspace)
);

-- Which organizations have runs that may be claimed.
CREATE TABLE run_queues (
  pool     TEXT COLLATE "C" NOT NULL,
  org      TEXT COLLATE "C" NOT NULL,
  priority BIGINT NOT NULL,
  first_id TEXT COLLATE "C" NOT NULL,                -- of those that may be claimed, the smallest
  ready    BIGINT NOT NULL,             -- its not_before
  PRIMARY KEY (pool, org, priority)
);

-- When an organization last claimed from a pool, counted in claims.
CREATE TABLE run_turns (
  pool TEXT COLLATE "C" NOT NULL,
  org  TEXT COLLATE "C" NOT NULL,
  turn BIGINT NOT NULL,
  PRIMARY KEY (pool, org)
);
CREATE INDEX run_turns_last ON run_turns (pool, turn);

-- What an organization has of runs.
CREATE TABLE run_tallies (
  org     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  waiting BIGINT NOT NULL,
  working BIGINT NOT NULL,
  kept    BIGINT NOT NULL,              -- rows of runs
  bytes   BIGINT NOT NULL               -- of pieces of logs and files, as they are kept
);

CREATE TABLE run_logs (
  org     TEXT COLLATE "C" NOT NULL,
  run     TEXT COLLATE "C" NOT NULL,
  stream  TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  size    BIGINT NOT NULL,              -- where it ends
  PRIMARY KEY (org, run, stream, attempt)
);

CREATE TABLE run_log_pieces (
  org     TEXT COLLATE "C" NOT NULL,
  run     TEXT COLLATE "C" NOT NULL,
  stream  TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  start   BIGINT NOT NULL,
  size    BIGINT NOT NULL,              -- of the plain bytes
  sealed  BYTEA NOT NULL,
  PRIMARY KEY (org, run, stream, attempt, start)
);

-- The files that are complete.
CREATE TABLE run_files (
  org     TEXT COLLATE "C" NOT NULL,
  run     TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  size    BIGINT NOT NULL,
  digest  TEXT COLLATE "C" NOT NULL,
  pieces  BIGINT NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
);

CREATE TABLE run_file_pieces (
  org     TEXT COLLATE "C" NOT NULL,
  run     TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  piece   BIGINT NOT NULL,
  sealed  BYTEA NOT NULL,
  PRIMARY KEY (org, run, kind, attempt, piece)
);

CREATE TABLE run_pools (
  org        TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  token_hash BYTEA NOT NULL UNIQUE,       -- SHA-256
  body       BYTEA NOT NULL,              -- JSON
  PRIMARY KEY (org, name)
);

CREATE TABLE run_agents (
  id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  org  TEXT COLLATE "C" NOT NULL,
  pool TEXT COLLATE "C" NOT NULL,
  seen BIGINT NOT NULL,
  body BYTEA NOT NULL                     -- JSON
);
CREATE INDEX run_agents_of_pool ON run_agents (org, pool, id);
CREATE INDEX run_agents_seen ON run_agents (seen);

-- The upload that the pieces of a file are of, while the file is not complete: those of two are
-- not to be mixed.
CREATE TABLE run_uploads (
  org     TEXT COLLATE "C" NOT NULL,
  run     TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  attempt BIGINT NOT NULL,
  upload  TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
);

-- The texts of auth.cfg, of which the one with the highest number counts. at is the database's time.
CREATE TABLE auth_revisions (
  number  BIGINT NOT NULL PRIMARY KEY,
  at      BIGINT NOT NULL,
  size    BIGINT NOT NULL,
  digest  TEXT COLLATE "C" NOT NULL,
  made_by TEXT COLLATE "C" NOT NULL
);

CREATE TABLE auth_pieces (
  number BIGINT NOT NULL,
  piece  BIGINT NOT NULL,
  bytes  BYTEA NOT NULL,
  PRIMARY KEY (number, piece)
);

-- Which copy of auth.cfg each running node has in force, and when it was last heard of.
CREATE TABLE auth_copies (
  node     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  name     TEXT COLLATE "C" NOT NULL,
  revision BIGINT NOT NULL,
  digest   TEXT COLLATE "C" NOT NULL,
  shredded TEXT COLLATE "C" NOT NULL,
  at       BIGINT NOT NULL,
  seen     BIGINT NOT NULL
);

-- When and from where credentials were last used, on whichever node.
CREATE TABLE key_uses (
  org     TEXT COLLATE "C" NOT NULL,
  key_id  TEXT COLLATE "C" NOT NULL,
  at      BIGINT NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, key_id)
);

-- Which node does what only one may do, until when by the database's time.
CREATE TABLE node_turns (
  name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  holder TEXT COLLATE "C" NOT NULL,
  until  BIGINT NOT NULL
);

-- The notices that wait to be told, and how far the audit log was read for them.
CREATE TABLE notices (
  org      TEXT COLLATE "C" NOT NULL,
  sequence BIGINT NOT NULL,
  at       BIGINT NOT NULL,
  event    BYTEA NOT NULL,
  PRIMARY KEY (org, sequence, at)
);

CREATE TABLE notice_position (
  id       BIGINT NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL
);

-- The sessions of people who use the page. There is no token in it, but the SHA-256 of each.
CREATE TABLE sessions (
  org      TEXT COLLATE "C" NOT NULL,
  hash     TEXT COLLATE "C" NOT NULL,                -- in hexadecimal
  holder   TEXT COLLATE "C" NOT NULL,                -- SHA-256 of whose it is, in hexadecimal
  login    TEXT COLLATE "C" NOT NULL,                -- JSON: how it began
  began_at BIGINT NOT NULL,
  seen_at  BIGINT NOT NULL,
  ends_at  BIGINT NOT NULL,
  address  TEXT COLLATE "C" NOT NULL,
  agent    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, hash)
);
CREATE INDEX sessions_of_holder ON sessions (org, holder, seen_at);
CREATE INDEX sessions_seen ON sessions (seen_at);
CREATE INDEX sessions_ends ON sessions (ends_at);

-- The order in which an organization's runs have changed last, for who follows them.
CREATE TABLE run_changes (
  org    TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  run    TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (org, number),
  UNIQUE (org, run)
);
-- The last of an organization's numbers.
CREATE TABLE run_changed (
  org    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  number BIGINT NOT NULL
);

-- How many runs have ended on a day, in UTC, and how. Those that are removed count no more.
CREATE TABLE run_days (
  org    TEXT COLLATE "C" NOT NULL,
  day    BIGINT NOT NULL,               -- since 1970
  status TEXT COLLATE "C" NOT NULL,
  runs   BIGINT NOT NULL,
  PRIMARY KEY (org, day, status)
);

-- What shows that who has written a row about auth.cfg has the master key: a revision, or a node's copy.
CREATE TABLE auth_marks (
  what TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  mark BYTEA NOT NULL
);

-- Pull requests of repositories, with what was planned of them.
CREATE TABLE pull_requests (
  org        TEXT COLLATE "C" NOT NULL,
  repository TEXT COLLATE "C" NOT NULL,
  number     BIGINT NOT NULL,           -- at the forge
  due        BIGINT NOT NULL,           -- when it is looked at, in microseconds; 0 for never
  hints      BIGINT NOT NULL,           -- how often somebody said that something may have happened
  claim      TEXT COLLATE "C" NOT NULL,              -- of who looks at it; empty for nobody
  claimed    BIGINT NOT NULL,           -- until when
  revision   BIGINT NOT NULL,
  body       TEXT COLLATE "C" NOT NULL,              -- JSON
  PRIMARY KEY (org, repository, number)
);
CREATE INDEX pull_requests_by_due ON pull_requests (due) WHERE due > 0;

-- What repositories want of pull requests.
CREATE TABLE pull_settings (
  org        TEXT COLLATE "C" NOT NULL,
  repository TEXT COLLATE "C" NOT NULL,
  body       TEXT COLLATE "C" NOT NULL,              -- JSON
  PRIMARY KEY (org, repository)
);

-- Layers: workspaces whose configuration comes from a repository, with what is remembered of each.
CREATE TABLE layers (
  org        TEXT COLLATE "C" NOT NULL,
  name       TEXT COLLATE "C" NOT NULL,
  repository TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  due_at     BIGINT NOT NULL,           -- microseconds; 0 for never
  checking   BIGINT NOT NULL,           -- 1 while a check for drift goes on
  document   TEXT COLLATE "C" NOT NULL,              -- JSON: all else
  PRIMARY KEY (org, name)
);
CREATE INDEX layers_due ON layers (due_at);
CREATE INDEX layers_of_repository ON layers (org, repository, name);
CREATE INDEX layers_checking ON layers (org, checking);

-- The workspaces that are in a trouble by how their runs have ended that are still there.
CREATE TABLE run_troubles (
  org       TEXT COLLATE "C" NOT NULL,
  workspace TEXT COLLATE "C" NOT NULL,
  trouble   TEXT COLLATE "C" NOT NULL,
  run       TEXT COLLATE "C" NOT NULL,               -- the newest that says so
  ended     BIGINT NOT NULL,
  PRIMARY KEY (org, workspace, trouble)
);
CREATE INDEX run_troubles_newest ON run_troubles (org, trouble, run);

-- Where configurations come from. The credentials are sealed under the ID.
CREATE TABLE repositories (
  org         TEXT COLLATE "C" NOT NULL,
  name        TEXT COLLATE "C" NOT NULL,
  id          TEXT COLLATE "C" NOT NULL UNIQUE,      -- random; the address of its webhook has it
  settings    TEXT COLLATE "C" NOT NULL,             -- JSON
  sealed      BYTEA NOT NULL,
  revision    BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  TEXT COLLATE "C" NOT NULL,             -- JSON: who
  status      TEXT COLLATE "C" NOT NULL,             -- JSON: how the newest fetch went
  tried_at    BIGINT NOT NULL,          -- when that began
  due_at      BIGINT NOT NULL,          -- when it is fetched next
  hints       BIGINT NOT NULL,          -- how many there were
  claim       TEXT COLLATE "C" NOT NULL,             -- token of who fetches it; empty for nobody
  claim_until BIGINT NOT NULL,
  PRIMARY KEY (org, name)
);
CREATE INDEX repositories_due ON repositories (due_at);

-- What was dealt with of what git servers have told: digests of IDs and of bodies.
CREATE TABLE repository_deliveries (
  org        TEXT COLLATE "C" NOT NULL,
  repository TEXT COLLATE "C" NOT NULL,
  what       TEXT COLLATE "C" NOT NULL,
  noted_at   BIGINT NOT NULL,
  done       BIGINT NOT NULL,
  PRIMARY KEY (org, repository, what)
);
CREATE INDEX repository_deliveries_noted ON repository_deliveries (noted_at);

-- Bundles of policies, by version. The workspace of the organization's own is empty.
CREATE TABLE policies (
  org       TEXT COLLATE "C" NOT NULL,
  workspace TEXT COLLATE "C" NOT NULL,
  name      TEXT COLLATE "C" NOT NULL,
  version   BIGINT NOT NULL,
  about     TEXT COLLATE "C" NOT NULL,               -- JSON
  files     BYTEA NOT NULL,               -- JSON
  PRIMARY KEY (org, workspace, name, version)
);

-- What checks of a layer have found, by the day in UTC on which they ended.
CREATE TABLE layer_days (
  org     TEXT COLLATE "C" NOT NULL,
  day     BIGINT NOT NULL,              -- since 1970
  layer   TEXT COLLATE "C" NOT NULL,
  checks  BIGINT NOT NULL,
  found   BIGINT NOT NULL,              -- checks that have found drift
  drifted BIGINT NOT NULL,              -- resources, at the end of the day
  fresh   BIGINT NOT NULL,              -- resources that had not drifted before
  healed  BIGINT NOT NULL,              -- resources that are as planned again
  PRIMARY KEY (org, day, layer)
);
CREATE INDEX layer_days_of_layer ON layer_days (org, layer, day);

-- The transactions of the last hours: those that have happened, and those of which it was settled that they never will.
CREATE TABLE outcomes (
  token  BYTEA NOT NULL PRIMARY KEY,
  at     TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  undone SMALLINT NOT NULL DEFAULT 0 -- the token is not the transaction's own: it keeps that from happening
);
