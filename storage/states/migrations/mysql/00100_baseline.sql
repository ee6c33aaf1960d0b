-- +goose NO TRANSACTION
-- +goose Up

-- DDL commits by itself: a step that was cut off is run again from its beginning, so each
-- statement must bear that. Texts are bytes, which compare as such everywhere; times are
-- microseconds since 1970, UTC; organizations are UUIDs as text.

-- One row is the head of one state, from the first LOCK or write on. It is locked by each
-- transaction that changes anything of the state.
CREATE TABLE IF NOT EXISTS state_heads (
  id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  org         CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- empty while it is removed in pieces
  name        VARBINARY(255) NOT NULL,
  owner       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NULL,     -- whose it was that is being removed
  newest      BIGINT NULL,                                             -- number of the newest version
  deleted_at  BIGINT NULL,
  undeleted   TINYINT NOT NULL DEFAULT 0,
  released_id VARBINARY(1020) NOT NULL DEFAULT '',
  purges      TINYINT NOT NULL DEFAULT 0,                              -- bytes of it were purged

  -- The held lock; all of it null while nobody holds it.
  lock_since     BIGINT NULL,
  lock_key       MEDIUMBLOB NULL,
  lock_id        VARBINARY(1020) NULL,
  lock_operation MEDIUMBLOB NULL,
  lock_info      MEDIUMBLOB NULL,
  lock_who       MEDIUMBLOB NULL,
  lock_version   MEDIUMBLOB NULL,
  lock_created   MEDIUMBLOB NULL,
  lock_path      MEDIUMBLOB NULL,
  lock_raw       MEDIUMBLOB NULL,
  lock_seen      BIGINT NULL,
  lock_run       VARBINARY(255) NULL,
  lock_epoch     BIGINT NULL,

  fence_run   VARBINARY(255) NOT NULL DEFAULT '',
  fence_epoch BIGINT NOT NULL DEFAULT 0,
  fence_open  TINYINT NOT NULL DEFAULT 0,
  expected    MEDIUMBLOB NULL,

  -- What the lists of some states read.
  is_deleted  TINYINT NOT NULL DEFAULT 0,
  is_locked   TINYINT NOT NULL DEFAULT 0,
  is_expected TINYINT NOT NULL DEFAULT 0,
  UNIQUE KEY names (org, name),
  KEY deletions (org, is_deleted, name),
  KEY locks (org, is_locked, name),
  KEY expectations (org, is_expected, name),
  KEY lock_since (lock_since)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS state_versions (
  state             BIGINT NOT NULL,
  number            BIGINT NOT NULL,
  serial            BIGINT NOT NULL,            -- an uint64 in two's complement
  lineage           MEDIUMBLOB NOT NULL,
  terraform_version MEDIUMBLOB NOT NULL,
  encrypted         TINYINT NOT NULL,           -- by the client
  size              BIGINT NOT NULL,            -- of the bytes as they came
  digest            VARBINARY(64) NOT NULL,     -- their SHA-256, sealed
  created_at        BIGINT NOT NULL,
  key_id            MEDIUMBLOB NOT NULL,
  address           MEDIUMBLOB NOT NULL,
  request           MEDIUMBLOB NOT NULL,
  who               MEDIUMBLOB NOT NULL,
  operation         MEDIUMBLOB NOT NULL,
  subject           MEDIUMBLOB NOT NULL,
  resources         BIGINT NOT NULL,
  warnings          MEDIUMBLOB NOT NULL,
  origin_version    BIGINT NOT NULL,
  origin_candidate  VARBINARY(64) NOT NULL,
  reason            MEDIUMBLOB NOT NULL,
  purged            TINYINT NOT NULL,
  encoding          VARBINARY(16) NOT NULL,     -- empty when the bytes are gone
  stored_bytes      BIGINT NOT NULL,            -- how many bytes its pieces have together
  base              BIGINT NULL,                -- number of the version that it is a delta of
  PRIMARY KEY (state, number)
) ENGINE = InnoDB;

-- The bytes of a version, in pieces; and of a candidate, whose number is that of its row below
-- zero.
CREATE TABLE IF NOT EXISTS state_bodies (
  state  BIGINT NOT NULL,
  number BIGINT NOT NULL,
  piece  INT NOT NULL,
  bytes  MEDIUMBLOB NOT NULL,
  PRIMARY KEY (state, number, piece)
) ENGINE = InnoDB;

-- Lock IDs that were released: none of them is ever granted again.
CREATE TABLE IF NOT EXISTS state_lock_ids (
  state BIGINT NOT NULL,
  id    VARBINARY(1020) NOT NULL,
  PRIMARY KEY (state, id)
) ENGINE = InnoDB;

-- The digests of what was purged, so that the same bytes don't come back unasked.
CREATE TABLE IF NOT EXISTS state_purged (
  state  BIGINT NOT NULL,
  digest VARBINARY(64) NOT NULL,
  PRIMARY KEY (state, digest)
) ENGINE = InnoDB;

-- Bodies that are no versions, or not yet. The comment is for TiDB, whose IDs would else grow only
-- as seen from one of its nodes.
CREATE TABLE IF NOT EXISTS state_candidates (
  seq               BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  state             BIGINT NOT NULL,
  id                VARBINARY(64) NOT NULL,
  source            VARBINARY(16) NOT NULL,
  status            VARBINARY(16) NOT NULL,
  is_open           TINYINT NOT NULL,
  decided_at        BIGINT NULL,
  number            BIGINT NOT NULL,
  serial            BIGINT NOT NULL,
  lineage           MEDIUMBLOB NOT NULL,
  terraform_version MEDIUMBLOB NOT NULL,
  encrypted         TINYINT NOT NULL,
  size              BIGINT NOT NULL,
  digest            VARBINARY(64) NOT NULL,
  created_at        BIGINT NOT NULL,
  key_id            MEDIUMBLOB NOT NULL,
  address           MEDIUMBLOB NOT NULL,
  request           MEDIUMBLOB NOT NULL,
  who               MEDIUMBLOB NOT NULL,
  operation         MEDIUMBLOB NOT NULL,
  subject           MEDIUMBLOB NOT NULL,
  resources         BIGINT NOT NULL,
  warnings          MEDIUMBLOB NOT NULL,
  origin_version    BIGINT NOT NULL,
  origin_candidate  VARBINARY(64) NOT NULL,
  reason            MEDIUMBLOB NOT NULL,
  purged            TINYINT NOT NULL,
  content           VARBINARY(64) NOT NULL,
  encoding          VARBINARY(16) NOT NULL,
  stored_bytes      BIGINT NOT NULL,
  UNIQUE KEY ids (state, id),
  KEY statuses (state, is_open, seq)
) ENGINE = InnoDB /*T![auto_id_cache] AUTO_ID_CACHE 1 */;

-- What transactions have done that everybody's rows must tell of: an event, and by how much what is
-- counted changes. Each only adds rows here, so that none waits for another one.
CREATE TABLE IF NOT EXISTS state_journal (
  id       BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  bytes    BIGINT NOT NULL,       -- more that the organization has
  states   INT NOT NULL,          -- more that can be read
  locks    INT NOT NULL,          -- more that are held
  is_event TINYINT NOT NULL,
  at       BIGINT NOT NULL,
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  action   VARBINARY(64) NOT NULL,
  state    VARBINARY(255) NOT NULL,
  version  BIGINT NOT NULL,
  lock_id  VARBINARY(1020) NOT NULL,
  refused  VARBINARY(64) NOT NULL,
  reason   MEDIUMBLOB NOT NULL,
  note     MEDIUMBLOB NOT NULL,
  key_id   MEDIUMBLOB NOT NULL,
  key_name MEDIUMBLOB NOT NULL,
  subject  MEDIUMBLOB NOT NULL,
  role     VARBINARY(64) NOT NULL,
  address  MEDIUMBLOB NOT NULL,
  request  MEDIUMBLOB NOT NULL,
  KEY orgs (org, bytes)
) ENGINE = InnoDB /*T![auto_id_cache] AUTO_ID_CACHE 1 */;

-- The audit log: what was in the journal, numbered without gaps.
CREATE TABLE IF NOT EXISTS state_events (
  sequence BIGINT NOT NULL PRIMARY KEY,
  at       BIGINT NOT NULL,
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  action   VARBINARY(64) NOT NULL,
  state    VARBINARY(255) NOT NULL,
  version  BIGINT NOT NULL,
  lock_id  VARBINARY(1020) NOT NULL,
  refused  VARBINARY(64) NOT NULL,
  reason   MEDIUMBLOB NOT NULL,
  note     MEDIUMBLOB NOT NULL,
  key_id   MEDIUMBLOB NOT NULL,
  key_name MEDIUMBLOB NOT NULL,
  subject  MEDIUMBLOB NOT NULL,
  role     VARBINARY(64) NOT NULL,
  address  MEDIUMBLOB NOT NULL,
  request  MEDIUMBLOB NOT NULL,
  KEY orgs (org, sequence),
  KEY states (org, state, sequence),
  KEY actions (org, action, sequence)
) ENGINE = InnoDB;

-- One row, which is locked while the journal moves on.
CREATE TABLE IF NOT EXISTS state_log (
  id       INT NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL,       -- the last one
  newest   BIGINT NOT NULL,       -- its time
  states   BIGINT NOT NULL,
  locks    BIGINT NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO state_log (id, sequence, newest, states, locks) VALUES (1, 0, -9223372036854775808, 0, 0);

-- How many bytes are kept for an organization, but for what the journal has yet.
CREATE TABLE IF NOT EXISTS state_usage (
  org   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL
) ENGINE = InnoDB;

-- Locked by who takes the last room that an organization has.
CREATE TABLE IF NOT EXISTS state_rooms (
  org CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- The transactions of the last days: those that have happened, and those of which it was settled
-- that they never will.
CREATE TABLE IF NOT EXISTS state_outcomes (
  token  BINARY(16) NOT NULL PRIMARY KEY,
  at     DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  undone TINYINT NOT NULL DEFAULT 0 -- the token is not the transaction's own: it keeps that from happening
) ENGINE = InnoDB;

-- What the readiness probe writes to.
CREATE TABLE IF NOT EXISTS state_probe (
  id INT NOT NULL PRIMARY KEY,
  at BIGINT NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO state_probe (id, at) VALUES (1, 0);

-- States of which a node has acknowledged a change that the database does not have any more: after a
-- failover to a replica that had not got it yet, say. They are not served until an operator has removed
-- the row.
CREATE TABLE IF NOT EXISTS state_rewinds (
  org          CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name         VARBINARY(255) NOT NULL,
  number       BIGINT NOT NULL,           -- of the newest version that is gone; 0 when another change is
  acknowledged DATETIME(6) NOT NULL,      -- by the clock of the node that did so
  there        BIGINT NOT NULL,           -- the newest version that the database has; 0 for none
  noticed      DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (org, name)
) ENGINE = InnoDB;

-- The data keys that organizations' states are sealed with, wrapped under a master key.
CREATE TABLE IF NOT EXISTS state_data_keys (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number  INT UNSIGNED NOT NULL,
  id      VARBINARY(8) NOT NULL,
  wrapped VARBINARY(1024) NOT NULL,
  PRIMARY KEY (org, number)
) ENGINE = InnoDB;

-- One row, with the first data key: the mark of the master keys that wrap these, which tells other master keys at once.
CREATE TABLE IF NOT EXISTS state_sealing (
  id     INT NOT NULL PRIMARY KEY,
  mark   VARBINARY(64) NOT NULL
) ENGINE = InnoDB;

-- Each event of the log is chained to the one before it in its organization: place is its number in the chain, from 1,
-- and hash says what it and all before it are (see audit.Chain).
CREATE TABLE IF NOT EXISTS state_links (
  sequence BIGINT NOT NULL PRIMARY KEY,
  place    BIGINT NOT NULL,
  hash     VARBINARY(32) NOT NULL
) ENGINE = InnoDB;

-- How far each organization's chain has come. Who moves the journal on has state_log locked, and is the only one that
-- changes it.
CREATE TABLE IF NOT EXISTS state_chains (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  seed     VARBINARY(32) NOT NULL,  -- random; it is in each hash
  first    BIGINT NOT NULL,         -- sequence of the first event
  sequence BIGINT NOT NULL,         -- of the newest event, with its place and its hash
  place    BIGINT NOT NULL,
  hash     VARBINARY(32) NOT NULL
) ENGINE = InnoDB;


-- The last event of each organization that retention has removed (see audit.Checkpoint). The row of no organization
-- says up to which event the log has no rows at all any more.
CREATE TABLE IF NOT EXISTS state_checkpoints (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL,
  place    BIGINT NOT NULL,  -- in the chain
  hash     VARBINARY(32) NOT NULL,
  at       BIGINT NOT NULL
) ENGINE = InnoDB;
