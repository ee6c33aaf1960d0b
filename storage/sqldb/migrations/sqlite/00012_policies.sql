-- +goose Up

-- Bundles of policies, by version. The workspace of the organization's own is empty.
CREATE TABLE policies (
  org       TEXT NOT NULL,
  workspace TEXT NOT NULL,
  name      TEXT NOT NULL,
  version   INTEGER NOT NULL,
  about     TEXT NOT NULL,               -- JSON
  files     BLOB NOT NULL,               -- JSON
  PRIMARY KEY (org, workspace, name, version)
) STRICT;
