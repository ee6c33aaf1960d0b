-- +goose Up

-- The sessions of people who use the page. There is no token in it, but the SHA-256 of each.
CREATE TABLE sessions (
  org      TEXT NOT NULL,
  hash     TEXT NOT NULL,                -- in hexadecimal
  holder   TEXT NOT NULL,                -- SHA-256 of whose it is, in hexadecimal
  login    TEXT NOT NULL,                -- JSON: how it began
  began_at INTEGER NOT NULL,
  seen_at  INTEGER NOT NULL,
  ends_at  INTEGER NOT NULL,
  address  TEXT NOT NULL,
  agent    TEXT NOT NULL,
  PRIMARY KEY (org, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_holder ON sessions (org, holder, seen_at);
CREATE INDEX sessions_seen ON sessions (seen_at);
CREATE INDEX sessions_ends ON sessions (ends_at);
