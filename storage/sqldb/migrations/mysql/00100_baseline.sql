-- +goose NO TRANSACTION
-- +goose Up

-- DDL commits by itself: a step that was cut off is run again from its beginning, so each
-- statement must bear that.

-- An organization that something is kept of. Times are microseconds since 1970, UUIDs text.
CREATE TABLE IF NOT EXISTS organizations (
  org   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL DEFAULT 0  -- of its blobs
) ENGINE = InnoDB;
-- What the readiness probe writes to.
INSERT IGNORE INTO organizations (org) VALUES ('00000000-0000-0000-0000-000000000000');

-- The data keys that an organization's things are sealed with, wrapped. Nothing is ever removed.
CREATE TABLE IF NOT EXISTS data_keys (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number  INT NOT NULL,
  id      BINARY(8) NOT NULL,
  wrapped VARBINARY(1024) NOT NULL,
  PRIMARY KEY (org, number)
) ENGINE = InnoDB;

-- A thing that is kept sealed, in pieces, once for its content: a configuration's file, a plan.
CREATE TABLE IF NOT EXISTS blobs (
  id      CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,  -- random: what its pieces are sealed under
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  digest  BINARY(32),  -- SHA-256 of the content; null until all of it is there
  size    BIGINT NOT NULL,  -- of the content
  pieces  INT NOT NULL,
  refs    BIGINT NOT NULL,  -- what needs it
  touched BIGINT NOT NULL,  -- unneeded ones are removed some time after this
  UNIQUE KEY content (org, kind, digest),
  KEY blobs_unneeded (refs, touched)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS blob_pieces (
  blob_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  piece   INT NOT NULL,
  body    MEDIUMBLOB NOT NULL,
  PRIMARY KEY (blob_id, piece)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS workspaces (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  settings   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON
  revision   BIGINT NOT NULL,  -- grows with each change of settings or variables
  snapshot   BIGINT NOT NULL,  -- number of the newest one; 0 for none yet
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  updated_by TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: who
  PRIMARY KEY (org, name)
) ENGINE = InnoDB;

-- The variables of a workspace, and those of all workspaces of an organization, whose
-- workspace is empty.
CREATE TABLE IF NOT EXISTS variables (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace  VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind       VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- terraform or environment
  name       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  hcl        TINYINT NOT NULL,
  secret     TINYINT NOT NULL,
  size       BIGINT NOT NULL,  -- of the value
  sealed     MEDIUMBLOB NOT NULL,  -- the value
  updated_at BIGINT NOT NULL,
  updated_by TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, workspace, kind, name)
) ENGINE = InnoDB;

-- How often the variables of an organization changed: a part of each workspace's revision.
CREATE TABLE IF NOT EXISTS organization_variables (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  revision BIGINT NOT NULL
) ENGINE = InnoDB;

-- An immutable set of files. Its list is the blob of kind "manifest" with its ID as digest.
CREATE TABLE IF NOT EXISTS snapshots (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id         BINARY(32) NOT NULL,  -- SHA-256 of its list
  files      BIGINT NOT NULL,
  bytes      BIGINT NOT NULL,
  refs       BIGINT NOT NULL,  -- rows of workspace_snapshots
  PRIMARY KEY (org, id)
) ENGINE = InnoDB;

-- Which sets of files a workspace has had, one after another.
CREATE TABLE IF NOT EXISTS workspace_snapshots (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace  VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number     BIGINT NOT NULL,  -- from 1
  snapshot   BINARY(32) NOT NULL,
  message    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, workspace, number),
  KEY workspace_snapshots_by_snapshot (org, snapshot),
  KEY workspace_snapshots_by_workspace (workspace)
) ENGINE = InnoDB;

-- What was done and is not in the audit log yet. Written with what was done.
CREATE TABLE IF NOT EXISTS audit_outbox (
  id    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,  -- sorts by time
  org   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL  -- JSON
) ENGINE = InnoDB;

-- A run: all of it as JSON, beside what it is found by. Those columns are derived from it.
CREATE TABLE IF NOT EXISTS runs (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id         VARBINARY(64) NOT NULL,  -- a ULID: sorts by time of creation
  revision   BIGINT NOT NULL,  -- grows with each change
  events     BIGINT NOT NULL,  -- the last one's sequence
  workspace  VARBINARY(255) NOT NULL,
  kind       VARBINARY(32) NOT NULL,
  status     VARBINARY(32) NOT NULL,
  pool       VARBINARY(255) NOT NULL,
  priority   INT NOT NULL,  -- the lowest goes first
  not_before BIGINT NOT NULL,
  open       VARBINARY(255),  -- the workspace, until the run ends
  line       VARBINARY(255),  -- the workspace, while the run waits for its slot
  queue      VARBINARY(255),  -- the pool, while the run may be claimed
  agent      VARBINARY(64),  -- who has the run
  due        BIGINT,  -- when somebody has to look at it
  ended      BIGINT,
  leaves     BIGINT,  -- of those that ended, the lowest goes first where there is no room
  made_by    BINARY(32),  -- SHA-256 of the key of the call that made it
  body       MEDIUMBLOB NOT NULL,
  PRIMARY KEY (org, id),
  UNIQUE KEY runs_made_by (org, made_by),
  KEY runs_of_workspace (org, workspace, id),
  KEY runs_of_kind (org, kind, status, id),
  KEY runs_of_workspace_kind (org, workspace, kind, status, id),
  KEY runs_open (org, open, id),
  KEY runs_line (org, line, priority, id),
  KEY runs_queue (queue, org, priority, id, not_before),
  KEY runs_agent (org, agent),
  KEY runs_due (due, org, id),
  KEY runs_ended (ended, org, id),
  KEY runs_leaves (org, leaves)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_events (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run      VARBINARY(64) NOT NULL,
  sequence BIGINT NOT NULL,  -- from 1
  body     MEDIUMBLOB NOT NULL,  -- JSON
  PRIMARY KEY (org, run, sequence)
) ENGINE = InnoDB;

-- A workspace whose slot somebody holds or waits for.
CREATE TABLE IF NOT EXISTS run_lines (
  org       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace VARBINARY(255) NOT NULL,
  holder    VARBINARY(64) NOT NULL,  -- the run that has the slot; empty for none
  head      VARBINARY(64) NOT NULL,  -- the waiting run that may be claimed; empty while it is held
  PRIMARY KEY (org, workspace)
) ENGINE = InnoDB;

-- Which organizations have runs that may be claimed.
CREATE TABLE IF NOT EXISTS run_queues (
  pool     VARBINARY(255) NOT NULL,
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  priority INT NOT NULL,
  first_id VARBINARY(64) NOT NULL,  -- of those that may be claimed, the smallest
  ready    BIGINT NOT NULL,  -- its not_before
  PRIMARY KEY (pool, org, priority)
) ENGINE = InnoDB;

-- When an organization last claimed from a pool, counted in claims.
CREATE TABLE IF NOT EXISTS run_turns (
  pool VARBINARY(255) NOT NULL,
  org  CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  turn BIGINT NOT NULL,
  PRIMARY KEY (pool, org),
  KEY run_turns_last (pool, turn)
) ENGINE = InnoDB;

-- What an organization has of runs.
CREATE TABLE IF NOT EXISTS run_tallies (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  waiting BIGINT NOT NULL,
  working BIGINT NOT NULL,
  kept    BIGINT NOT NULL,  -- rows of runs
  bytes   BIGINT NOT NULL  -- of pieces of logs and files, as they are kept
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_logs (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  stream  VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  size    BIGINT NOT NULL,  -- where it ends
  PRIMARY KEY (org, run, stream, attempt)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_log_pieces (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  stream  VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  start   BIGINT NOT NULL,
  size    BIGINT NOT NULL,  -- of the plain bytes
  sealed  MEDIUMBLOB NOT NULL,
  PRIMARY KEY (org, run, stream, attempt, start)
) ENGINE = InnoDB;

-- The files that are complete.
CREATE TABLE IF NOT EXISTS run_files (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  kind    VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  size    BIGINT NOT NULL,
  digest  VARBINARY(64) NOT NULL,
  pieces  INT NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_file_pieces (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  kind    VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  piece   INT NOT NULL,
  sealed  MEDIUMBLOB NOT NULL,
  PRIMARY KEY (org, run, kind, attempt, piece)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_pools (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARBINARY(255) NOT NULL,
  token_hash VARBINARY(64) NOT NULL UNIQUE,  -- SHA-256
  body       MEDIUMBLOB NOT NULL,  -- JSON
  PRIMARY KEY (org, name)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS run_agents (
  id   VARBINARY(64) NOT NULL PRIMARY KEY,
  org  CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  pool VARBINARY(255) NOT NULL,
  seen BIGINT NOT NULL,
  body MEDIUMBLOB NOT NULL,  -- JSON
  KEY run_agents_of_pool (org, pool, id),
  KEY run_agents_seen (seen)
) ENGINE = InnoDB;

-- The upload that the pieces of a file are of, while the file is not complete: those of two are
-- not to be mixed.
CREATE TABLE IF NOT EXISTS run_uploads (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  run     VARBINARY(64) NOT NULL,
  kind    VARBINARY(32) NOT NULL,
  attempt INT NOT NULL,
  upload  VARBINARY(64) NOT NULL,
  PRIMARY KEY (org, run, kind, attempt)
) ENGINE = InnoDB;

-- The texts of auth.cfg, of which the one with the highest number counts. at is the database's time.
CREATE TABLE IF NOT EXISTS auth_revisions (
  number  BIGINT NOT NULL PRIMARY KEY,
  at      BIGINT NOT NULL,
  size    BIGINT NOT NULL,
  digest  CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  made_by VARBINARY(255) NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS auth_pieces (
  number BIGINT NOT NULL,
  piece  INT NOT NULL,
  bytes  MEDIUMBLOB NOT NULL,
  PRIMARY KEY (number, piece)
) ENGINE = InnoDB;

-- Which copy of auth.cfg each running node has in force, and when it was last heard of.
CREATE TABLE IF NOT EXISTS auth_copies (
  node     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name     VARBINARY(255) NOT NULL,
  revision BIGINT NOT NULL,
  digest   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  shredded MEDIUMBLOB NOT NULL,
  at       BIGINT NOT NULL,
  seen     BIGINT NOT NULL
) ENGINE = InnoDB;

-- When and from where credentials were last used, on whichever node.
CREATE TABLE IF NOT EXISTS key_uses (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  key_id  VARBINARY(255) NOT NULL,
  at      BIGINT NOT NULL,
  address VARBINARY(255) NOT NULL,
  PRIMARY KEY (org, key_id)
) ENGINE = InnoDB;

-- Which node does what only one may do, until when by the database's time.
CREATE TABLE IF NOT EXISTS node_turns (
  name   VARBINARY(64) NOT NULL PRIMARY KEY,
  holder CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  until  BIGINT NOT NULL
) ENGINE = InnoDB;

-- The notices that wait to be told, and how far the audit log was read for them.
CREATE TABLE IF NOT EXISTS notices (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  sequence BIGINT NOT NULL,
  at       BIGINT NOT NULL,
  event    MEDIUMBLOB NOT NULL,
  PRIMARY KEY (org, sequence, at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS notice_position (
  id       INT NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL
) ENGINE = InnoDB;

-- The sessions of people who use the page. There is no token in it, but the SHA-256 of each.
CREATE TABLE IF NOT EXISTS sessions (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  hash     CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- in hexadecimal
  holder   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- SHA-256 of whose it is, in hexadecimal
  login    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: how it began
  began_at BIGINT NOT NULL,
  seen_at  BIGINT NOT NULL,
  ends_at  BIGINT NOT NULL,
  address  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  agent    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, hash),
  KEY sessions_of_holder (org, holder, seen_at),
  KEY sessions_seen (seen_at),
  KEY sessions_ends (ends_at)
) ENGINE = InnoDB;

-- The order in which an organization's runs have changed last, for who follows them.
CREATE TABLE IF NOT EXISTS run_changes (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number BIGINT NOT NULL,
  run    VARBINARY(64) NOT NULL,
  PRIMARY KEY (org, number),
  UNIQUE KEY run_changes_run (org, run)
) ENGINE = InnoDB;

-- The last of an organization's numbers.
CREATE TABLE IF NOT EXISTS run_changed (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  number BIGINT NOT NULL
) ENGINE = InnoDB;

-- How many runs have ended on a day, in UTC, and how. Those that are removed count no more.
CREATE TABLE IF NOT EXISTS run_days (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  day    BIGINT NOT NULL,  -- since 1970
  status VARBINARY(32) NOT NULL,
  runs   BIGINT NOT NULL,
  PRIMARY KEY (org, day, status)
) ENGINE = InnoDB;

-- What shows that who has written a row about auth.cfg has the master key: a revision, or a node's copy.
CREATE TABLE IF NOT EXISTS auth_marks (
  what VARBINARY(64) NOT NULL PRIMARY KEY,
  mark VARBINARY(64) NOT NULL
) ENGINE = InnoDB;

-- Pull requests of repositories, with what was planned of them.
CREATE TABLE IF NOT EXISTS pull_requests (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number     BIGINT NOT NULL,
  due        BIGINT NOT NULL,
  hints      BIGINT NOT NULL,
  claim      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claimed    BIGINT NOT NULL,
  revision   BIGINT NOT NULL,
  body       MEDIUMTEXT NOT NULL,
  PRIMARY KEY (org, repository, number),
  KEY pull_requests_by_due (due)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What repositories want of pull requests.
CREATE TABLE IF NOT EXISTS pull_settings (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, repository)
) ENGINE = InnoDB;

-- Layers: workspaces whose configuration comes from a repository, with what is remembered of each.
CREATE TABLE IF NOT EXISTS layers (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  revision   BIGINT NOT NULL,
  due_at     BIGINT NOT NULL,            -- microseconds; 0 for never
  checking   INT NOT NULL,               -- 1 while a check for drift goes on
  document   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: all else
  PRIMARY KEY (org, name),
  KEY layers_due (due_at),
  KEY layers_of_repository (org, repository, name),
  KEY layers_checking (org, checking)
) ENGINE = InnoDB;

-- The workspaces that are in a trouble by how their runs have ended that are still there.
CREATE TABLE IF NOT EXISTS run_troubles (
  org       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace VARBINARY(255) NOT NULL,
  trouble   VARBINARY(32) NOT NULL,
  run       VARBINARY(64) NOT NULL,  -- the newest that says so
  ended     BIGINT NOT NULL,
  PRIMARY KEY (org, workspace, trouble),
  KEY run_troubles_newest (org, trouble, run)
) ENGINE = InnoDB;

-- Where configurations come from. The credentials are sealed under the ID.
CREATE TABLE IF NOT EXISTS repositories (
  org         CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id          CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- random; the address of its webhook has it
  settings    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON
  sealed      MEDIUMBLOB NOT NULL,
  revision    BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: who
  status      MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: how the newest fetch went
  tried_at    BIGINT NOT NULL,  -- when that began
  due_at      BIGINT NOT NULL,  -- when it is fetched next
  hints       BIGINT NOT NULL,  -- how many there were
  claim       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- token of who fetches it; empty for nobody
  claim_until BIGINT NOT NULL,
  PRIMARY KEY (org, name),
  UNIQUE KEY repositories_id (id),
  KEY repositories_due (due_at)
) ENGINE = InnoDB;

-- What was dealt with of what git servers have told: digests of IDs and of bodies.
CREATE TABLE IF NOT EXISTS repository_deliveries (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  what       VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  noted_at   BIGINT NOT NULL,
  done       INT NOT NULL,
  PRIMARY KEY (org, repository, what),
  KEY repository_deliveries_noted (noted_at)
) ENGINE = InnoDB;

-- Bundles of policies, by version. The workspace of the organization's own is empty.
CREATE TABLE IF NOT EXISTS policies (
  org       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version   BIGINT NOT NULL,
  about     MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON
  files     MEDIUMBLOB NOT NULL,  -- JSON
  PRIMARY KEY (org, workspace, name, version)
) ENGINE = InnoDB;

-- What checks of a layer have found, by the day in UTC on which they ended.
CREATE TABLE IF NOT EXISTS layer_days (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  day     BIGINT NOT NULL,               -- since 1970
  layer   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  checks  BIGINT NOT NULL,
  found   BIGINT NOT NULL,               -- checks that have found drift
  drifted BIGINT NOT NULL,               -- resources, at the end of the day
  fresh   BIGINT NOT NULL,               -- resources that had not drifted before
  healed  BIGINT NOT NULL,               -- resources that are as planned again
  PRIMARY KEY (org, day, layer),
  KEY layer_days_of_layer (org, layer, day)
) ENGINE = InnoDB;

-- The transactions of the last hours: those that have happened, and those of which it was settled that they never will.
CREATE TABLE IF NOT EXISTS outcomes (
  token  BINARY(16) NOT NULL PRIMARY KEY,
  at     DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  undone TINYINT NOT NULL DEFAULT 0 -- the token is not the transaction's own: it keeps that from happening
) ENGINE = InnoDB;
