-- +goose NO TRANSACTION
-- +goose Up

-- Each event of the log is chained to the one before it in its organization: place is its number in the chain, from 1,
-- and hash says what it and all before it are (see audit.Chain). Events from before this step have no row.
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

-- One row: the last event of the log that was chained, and the last one from before this step. What nodes of an older
-- version add behind it is chained later. All from there on are in a chain, but for those of no organization: else
-- whoever takes a chain away would make its events look like old ones.
CREATE TABLE IF NOT EXISTS state_chained (
  id       INT NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL,
  began    BIGINT NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO state_chained (id, sequence, began) SELECT id, sequence, sequence FROM state_log;
