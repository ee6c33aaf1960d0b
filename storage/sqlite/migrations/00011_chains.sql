-- +goose Up

-- Each event is chained to the one before it in its organization: place is its number in the chain, from 1, and hash
-- says what it and all before it are (see audit.Chain). Events from before this step have neither.
ALTER TABLE events ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN hash BLOB;

-- How far each organization's chain has come.
CREATE TABLE chains (
  org      TEXT PRIMARY KEY,
  seed     BLOB NOT NULL,     -- random; it is in each hash
  first    INTEGER NOT NULL,  -- sequence of the first event
  sequence INTEGER NOT NULL,  -- of the newest event, with its place and its hash
  place    INTEGER NOT NULL,
  hash     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The last event from before this step. Those behind it are all in a chain, but for those of no organization: else
-- whoever takes a chain away would make its events look like old ones.
CREATE TABLE chains_began (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO chains_began (id, sequence) SELECT 1, ifnull(max(sequence), 0) FROM events;
