-- +goose Up

-- Pull requests of repositories, with what was planned of them.
CREATE TABLE pull_requests (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  number     INTEGER NOT NULL,           -- at the forge
  due        INTEGER NOT NULL,           -- when it is looked at, in microseconds; 0 for never
  hints      INTEGER NOT NULL,           -- how often somebody said that something may have happened
  claim      TEXT NOT NULL,              -- of who looks at it; empty for nobody
  claimed    INTEGER NOT NULL,           -- until when
  revision   INTEGER NOT NULL,
  body       TEXT NOT NULL,              -- JSON
  PRIMARY KEY (org, repository, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX pull_requests_by_due ON pull_requests (due) WHERE due > 0;

-- What repositories want of pull requests.
CREATE TABLE pull_settings (
  org        TEXT NOT NULL,
  repository TEXT NOT NULL,
  body       TEXT NOT NULL,              -- JSON
  PRIMARY KEY (org, repository)
) STRICT, WITHOUT ROWID;
