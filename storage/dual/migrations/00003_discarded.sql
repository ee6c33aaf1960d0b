-- +goose Up

-- What an operator has given up: how many records of an organization a side lacks for good,
-- and the timestamp of the newest of them on the side that has them.
CREATE TABLE discarded (
  org     TEXT NOT NULL,
  refused INTEGER NOT NULL, -- the side that lacks them: 1 is csv, 2 is mysql
  records INTEGER NOT NULL,
  newest  INTEGER NOT NULL,
  PRIMARY KEY (org, refused)
) STRICT;
