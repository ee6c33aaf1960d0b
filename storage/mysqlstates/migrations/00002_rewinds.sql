-- +goose NO TRANSACTION
-- +goose Up

-- States of which a node has acknowledged a change that the database does not have any more: after a
-- failover to a replica that had not got it yet, say. They are not served until an operator has removed
-- the row.
CREATE TABLE IF NOT EXISTS state_rewinds (
  org          CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name         VARBINARY(255) NOT NULL,
  number       BIGINT NOT NULL,           -- of the newest version that is gone; 0 when another change is
  digest       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- its SHA-256; empty without one
  acknowledged DATETIME(6) NOT NULL,      -- by the clock of the node that did so
  there        BIGINT NOT NULL,           -- the newest version that the database has; 0 for none
  there_digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  noticed      DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (org, name)
) ENGINE = InnoDB;
