-- +goose Up

-- One row has the bytes of one write to a file, until they are known to be on disk there:
-- what a crash took from the file is put back from here.
CREATE TABLE journal (
  org   INTEGER NOT NULL REFERENCES orgs (id),
  start INTEGER NOT NULL,      -- offset in the file
  bytes BLOB NOT NULL,         -- in S2, a block
  PRIMARY KEY (org, start)
) STRICT;
