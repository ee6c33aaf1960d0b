-- +goose NO TRANSACTION
-- +goose Up

-- DDL commits by itself: a step that was cut off is run again from its beginning, so each
-- statement must bear that.

-- An organization that uploaded, or set out to. Its row is locked while a transaction of
-- it runs; its table is org_ and the UUID with underscores.
CREATE TABLE IF NOT EXISTS inventory_organizations (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  newest DATETIME(6) NULL               -- timestamp of its newest record; null before the first
) ENGINE = InnoDB;

-- The batches of the last days, by which one that is sent again is known.
CREATE TABLE IF NOT EXISTS inventory_batches (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  digest  BINARY(32) NOT NULL,
  request VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  at      DATETIME(6) NOT NULL,         -- the records' timestamp
  records INT NOT NULL,
  created DATETIME(6) NOT NULL,         -- by the clock, which "at" of an import is not
  PRIMARY KEY (org, id),
  KEY created (created)
) ENGINE = InnoDB;

-- Counts by provider, category and type. The names are too long for a key, and collations
-- may find names equal that differ: their SHA-256 is the key.
CREATE TABLE IF NOT EXISTS inventory_groups (
  org           CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  names         BINARY(32) NOT NULL,
  provider      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  category      VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  resource_type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  records       BIGINT NOT NULL,
  first_at      DATETIME(6) NOT NULL,
  last_at       DATETIME(6) NOT NULL,
  PRIMARY KEY (org, names)
) ENGINE = InnoDB;

-- What the readiness probe writes to, and a sample by which a server that rewrites JSON
-- is told from one that keeps its text.
CREATE TABLE IF NOT EXISTS inventory_probe (
  id     INT NOT NULL PRIMARY KEY,
  at     DATETIME(6) NOT NULL,
  sample JSON NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO inventory_probe (id, at, sample) VALUES (1, '2000-01-01', '{"b":1.0,"a":1}');

-- The key that cursors are signed with, the same on every node.
CREATE TABLE IF NOT EXISTS inventory_secret (
  id     INT NOT NULL PRIMARY KEY,
  secret BINARY(32) NOT NULL
) ENGINE = InnoDB;

-- How many bytes each organization has stored, as inventory.Batch counts them: kept by the
-- transactions that record batches.
CREATE TABLE IF NOT EXISTS inventory_usage (
  org   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL
) ENGINE = InnoDB;
