-- +goose Up

-- An organization that uploaded, or set out to. Its row is locked while a transaction of
-- it runs; its table is org_ and the UUID with underscores.
CREATE TABLE inventory_organizations (
  org    CHAR(36) COLLATE "C" NOT NULL PRIMARY KEY,
  newest TIMESTAMPTZ NULL               -- timestamp of its newest record; null before the first
);

-- The batches of the last days, by which one that is sent again is known.
CREATE TABLE inventory_batches (
  org     CHAR(36) COLLATE "C" NOT NULL,
  id      VARCHAR(64) COLLATE "C" NOT NULL,
  digest  BYTEA NOT NULL,
  request VARCHAR(255) COLLATE "C" NOT NULL,
  at      TIMESTAMPTZ NOT NULL,         -- the records' timestamp
  records INTEGER NOT NULL,
  created TIMESTAMPTZ NOT NULL,         -- by the clock, which "at" of an import is not
  PRIMARY KEY (org, id)
);
CREATE INDEX inventory_batches_created ON inventory_batches (created);

-- Counts by provider, category and type. The names are too long for a key: their SHA-256 is it.
CREATE TABLE inventory_groups (
  org           CHAR(36) COLLATE "C" NOT NULL,
  names         BYTEA NOT NULL,
  provider      VARCHAR(255) COLLATE "C" NOT NULL,
  category      VARCHAR(255) COLLATE "C" NOT NULL,
  resource_type VARCHAR(255) COLLATE "C" NOT NULL,
  records       BIGINT NOT NULL,
  first_at      TIMESTAMPTZ NOT NULL,
  last_at       TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (org, names)
);

-- What the readiness probe writes to.
CREATE TABLE inventory_probe (
  id INTEGER NOT NULL PRIMARY KEY,
  at TIMESTAMPTZ NOT NULL
);
INSERT INTO inventory_probe (id, at) VALUES (1, '2000-01-01');

-- The key that cursors are signed with, the same on every node.
CREATE TABLE inventory_secret (
  id     INTEGER NOT NULL PRIMARY KEY,
  secret BYTEA NOT NULL
);

-- How many bytes each organization has stored, as inventory.Batch counts them: kept by the
-- transactions that record batches.
CREATE TABLE inventory_usage (
  org   CHAR(36) COLLATE "C" NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL
);
