-- +goose Up

-- The order in which an organization's runs have changed last, for who follows them.
CREATE TABLE run_changes (
  org    TEXT NOT NULL,
  number INTEGER NOT NULL,
  run    TEXT NOT NULL,
  PRIMARY KEY (org, number),
  UNIQUE (org, run)
) STRICT, WITHOUT ROWID;
-- The last of an organization's numbers.
CREATE TABLE run_changed (
  org    TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many runs have ended on a day, in UTC, and how. Those that are removed count no more.
CREATE TABLE run_days (
  org    TEXT NOT NULL,
  day    INTEGER NOT NULL,               -- since 1970
  status TEXT NOT NULL,
  runs   INTEGER NOT NULL,
  PRIMARY KEY (org, day, status)
) STRICT, WITHOUT ROWID;
INSERT INTO run_days (org, day, status, runs)
  SELECT org, ended / 86400000000, status, COUNT(*) FROM runs WHERE ended IS NOT NULL GROUP BY 1, 2, 3;
