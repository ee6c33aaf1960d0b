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
