-- +goose Up

-- The workspaces that are in a trouble by how their runs have ended that are still there.
CREATE TABLE run_troubles (
  org       TEXT NOT NULL,
  workspace TEXT NOT NULL,
  trouble   TEXT NOT NULL,
  run       TEXT NOT NULL,               -- the newest that says so
  ended     INTEGER NOT NULL,
  PRIMARY KEY (org, workspace, trouble)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_troubles_newest ON run_troubles (org, trouble, run);
INSERT INTO run_troubles (org, workspace, trouble, run, ended)
  SELECT r.org, r.workspace, 'failed', r.id, COALESCE(r.ended, 0) FROM runs r JOIN (
    SELECT org, MAX(CASE WHEN status = 'failed' THEN id END) AS failed, MAX(CASE WHEN status = 'succeeded' THEN id END) AS fine
      FROM runs WHERE status IN ('failed', 'succeeded') GROUP BY org, workspace
  ) n ON r.org = n.org AND r.id = n.failed WHERE n.fine IS NULL OR n.failed > n.fine;
-- A body is JSON, in which no value has a quotation mark without a backslash before it.
INSERT INTO run_troubles (org, workspace, trouble, run, ended)
  SELECT r.org, r.workspace, 'drift', r.id, COALESCE(r.ended, 0) FROM runs r JOIN (
    SELECT org, MAX(id) AS looked FROM runs WHERE kind = 'drift' AND status = 'succeeded' GROUP BY org, workspace
  ) n ON r.org = n.org AND r.id = n.looked
  WHERE CAST(r.body AS TEXT) LIKE '%"Counts":{%'
    AND (CAST(r.body AS TEXT) LIKE '%"any":true%' OR CAST(r.body AS TEXT) NOT LIKE '%"drift":0,%');
