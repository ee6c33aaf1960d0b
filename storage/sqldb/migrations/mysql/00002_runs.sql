-- +goose NO TRANSACTION
-- +goose Up

-- DDL commits by itself: a step that was cut off is run again from its beginning, so each
-- statement must bear that.

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
  `stored` BIGINT NOT NULL,  -- rows of runs; MySQL reserves the word
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
