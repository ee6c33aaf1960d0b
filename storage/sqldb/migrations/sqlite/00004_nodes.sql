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
  shredded TEXT NOT NULL,
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

-- Which node does what only one may do, until when by the database's time.
CREATE TABLE node_turns (
  name   TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The notices that wait to be told, and how far the audit log was read for them.
CREATE TABLE notices (
  org      TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  event    BLOB NOT NULL,
  PRIMARY KEY (org, sequence, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE notice_position (
  only     INTEGER NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL
) STRICT;
