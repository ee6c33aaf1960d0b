-- How far the feed of states was followed.
CREATE TABLE position (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL,
  event    TEXT NOT NULL,          -- what tells the event of this sequence from another store's
  complete INTEGER NOT NULL
) STRICT;
INSERT INTO position (id, sequence, event, complete) VALUES (1, 0, '', 0);

CREATE TABLE orgs (
  id     INTEGER PRIMARY KEY,
  org    TEXT NOT NULL UNIQUE,
  cursor TEXT                      -- behind the last upload that is in here; null if none is followed
) STRICT;

-- One row is a state as it was read once; the one that is live is shown. Others are being
-- filled or on their way out. An organization's uploads are one that is live, with an
-- empty name.
CREATE TABLE holdings (
  id      INTEGER PRIMARY KEY,
  org     INTEGER NOT NULL REFERENCES orgs (id),
  state   TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest  BLOB NOT NULL,
  at      INTEGER NOT NULL,
  unread  TEXT NOT NULL,           -- why it has no resources in here; empty if it may have
  live    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX holdings_live ON holdings (org, state) WHERE live = 1;
CREATE INDEX holdings_stale ON holdings (id) WHERE live = 0;
CREATE INDEX holdings_unread ON holdings (org, state) WHERE live = 1 AND unread <> '';

CREATE TABLE resources (
  id         INTEGER PRIMARY KEY,
  holding    INTEGER NOT NULL REFERENCES holdings (id),
  org        INTEGER NOT NULL,
  source     INTEGER NOT NULL,     -- 0 for a state, 1 for an upload
  state      TEXT NOT NULL,
  address    TEXT NOT NULL,
  type       TEXT NOT NULL,
  provider   TEXT NOT NULL,
  category   TEXT NOT NULL,
  mode       TEXT NOT NULL,
  module     TEXT NOT NULL,
  name       TEXT NOT NULL,
  key        TEXT NOT NULL,
  deposed    TEXT NOT NULL,
  version    INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  attributes TEXT NOT NULL,        -- a JSON list of names and values in turn
  tags       TEXT NOT NULL,
  counts     INTEGER NOT NULL,     -- 1 if coverage is about it
  text       TEXT NOT NULL DEFAULT '' -- its words in turn, each behind a space
) STRICT;
CREATE INDEX resources_place ON resources (org, source, state, address);
CREATE INDEX resources_type ON resources (org, type);
CREATE INDEX resources_holding ON resources (holding);

-- Marks of what a resource is found by: half a SHA-256 each. The kinds are 'a' for a
-- name and value of an attribute, 'i' for an identity, 'e' for one among all types, 'h' for
-- a hint, and 'l' for a lane. Only 'i' and 'h' are ever of the same thing.
CREATE TABLE marks (
  org      INTEGER NOT NULL,
  mark     BLOB NOT NULL,
  source   INTEGER NOT NULL,     -- the resource's
  resource INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  PRIMARY KEY (org, mark, source, resource)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_resource ON marks (resource, kind);

-- What full-text search reads. The organization is in front of each word, so that a search
-- reads nothing of another one's.
CREATE TABLE words (
  org      INTEGER NOT NULL,
  word     TEXT NOT NULL,
  resource INTEGER NOT NULL,
  PRIMARY KEY (org, word, resource)
) STRICT, WITHOUT ROWID;

-- Times are microseconds since 1970, UTC.
