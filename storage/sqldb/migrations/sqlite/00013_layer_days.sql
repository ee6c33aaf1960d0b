-- +goose Up

-- What checks of a layer have found, by the day in UTC on which they ended.
CREATE TABLE layer_days (
  org     TEXT NOT NULL,
  day     INTEGER NOT NULL,              -- since 1970
  layer   TEXT NOT NULL,
  checks  INTEGER NOT NULL,
  found   INTEGER NOT NULL,              -- checks that have found drift
  drifted INTEGER NOT NULL,              -- resources, at the end of the day
  fresh   INTEGER NOT NULL,              -- resources that had not drifted before
  healed  INTEGER NOT NULL,              -- resources that are as planned again
  PRIMARY KEY (org, day, layer)
) STRICT, WITHOUT ROWID;
CREATE INDEX layer_days_of_layer ON layer_days (org, layer, day);
