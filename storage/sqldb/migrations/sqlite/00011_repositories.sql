-- +goose Up

-- Where configurations come from. The credentials are sealed under the ID.
CREATE TABLE repositories (
  org         TEXT NOT NULL,
  name        TEXT NOT NULL,
  id          TEXT NOT NULL UNIQUE,      -- random; the address of its webhook has it
  settings    TEXT NOT NULL,             -- JSON
  sealed      BLOB NOT NULL,
  revision    INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  updated_by  TEXT NOT NULL,             -- JSON: who
  status      TEXT NOT NULL,             -- JSON: how the newest fetch went
  tried_at    INTEGER NOT NULL,          -- when that began
  due_at      INTEGER NOT NULL,          -- when it is fetched next
  hints       INTEGER NOT NULL,          -- how many there were
  claim       TEXT NOT NULL,             -- token of who fetches it; empty for nobody
  claim_until INTEGER NOT NULL,
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX repositories_due ON repositories (due_at);

-- What was dealt with of what git servers have told: digests of IDs and of bodies.
CREATE TABLE repository_deliveries (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  what       TEXT NOT NULL,
  noted_at   INTEGER NOT NULL,
  done       INTEGER NOT NULL,
  PRIMARY KEY (org, repository, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX repository_deliveries_noted ON repository_deliveries (noted_at);
