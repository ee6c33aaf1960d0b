-- +goose Up

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
  stored  INTEGER NOT NULL,              -- rows of runs
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
