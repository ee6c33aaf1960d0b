-- +goose Up

-- Layers: workspaces whose configuration comes from a repository, with what is remembered of each.
CREATE TABLE layers (
  org        TEXT NOT NULL,
  name       TEXT NOT NULL,
  repository TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,           -- microseconds; 0 for never
  checking   INTEGER NOT NULL,           -- 1 while a check for drift goes on
  document   TEXT NOT NULL,              -- JSON: all else
  PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX layers_due ON layers (due_at);
CREATE INDEX layers_of_repository ON layers (org, repository, name);
CREATE INDEX layers_checking ON layers (org, checking);
