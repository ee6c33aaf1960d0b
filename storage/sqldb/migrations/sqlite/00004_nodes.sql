-- +goose Up

-- The texts of auth.cfg, of which the one with the highest number counts. at is the database's time.
CREATE TABLE auth_revisions (
  number  INTEGER NOT NULL PRIMARY KEY,
  at      INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  digest  TEXT NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

CREATE TABLE auth_pieces (
  number INTEGER NOT NULL,
  piece  INTEGER NOT NULL,
  bytes  BLOB NOT NULL,
  PRIMARY KEY (number, piece)
) STRICT;

-- Which copy of auth.cfg each running node has in force, and when it was last heard of.
CREATE TABLE auth_copies (
  node     TEXT NOT NULL PRIMARY KEY,
  name     TEXT NOT NULL,
  revision INTEGER NOT NULL,
  digest   TEXT NOT NULL,
  at       INTEGER NOT NULL,
  seen     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When and from where credentials were last used, on whichever node.
CREATE TABLE key_uses (
  org     TEXT NOT NULL,
  key_id  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (org, key_id)
) STRICT, WITHOUT ROWID;
