-- +goose NO TRANSACTION
-- +goose Up

-- The order in which an organization's runs have changed last, for who follows them.
CREATE TABLE IF NOT EXISTS run_changes (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number BIGINT NOT NULL,
  run    VARBINARY(64) NOT NULL,
  PRIMARY KEY (org, number),
  UNIQUE KEY run_changes_run (org, run)
) ENGINE = InnoDB;

-- The last of an organization's numbers.
CREATE TABLE IF NOT EXISTS run_changed (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  number BIGINT NOT NULL
) ENGINE = InnoDB;

-- How many runs have ended on a day, in UTC, and how. Those that are removed count no more.
CREATE TABLE IF NOT EXISTS run_days (
  org    CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  day    BIGINT NOT NULL,  -- since 1970
  status VARBINARY(32) NOT NULL,
  runs   BIGINT NOT NULL,
  PRIMARY KEY (org, day, status)
) ENGINE = InnoDB;
REPLACE INTO run_days (org, day, status, runs)
  SELECT org, ended DIV 86400000000, status, COUNT(*) FROM runs WHERE ended IS NOT NULL GROUP BY 1, 2, 3;
