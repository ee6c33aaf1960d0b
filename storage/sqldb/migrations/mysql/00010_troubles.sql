-- +goose NO TRANSACTION
-- +goose Up

-- The workspaces that are in a trouble by how their runs have ended that are still there.
CREATE TABLE IF NOT EXISTS run_troubles (
  org       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace VARBINARY(255) NOT NULL,
  trouble   VARBINARY(32) NOT NULL,
  run       VARBINARY(64) NOT NULL,  -- the newest that says so
  ended     BIGINT NOT NULL,
  PRIMARY KEY (org, workspace, trouble),
  KEY run_troubles_newest (org, trouble, run)
) ENGINE = InnoDB;
REPLACE INTO run_troubles (org, workspace, trouble, run, ended)
  SELECT r.org, r.workspace, 'failed', r.id, COALESCE(r.ended, 0) FROM runs r JOIN (
    SELECT org, MAX(CASE WHEN status = 'failed' THEN id END) AS failed, MAX(CASE WHEN status = 'succeeded' THEN id END) AS fine
      FROM runs WHERE status IN ('failed', 'succeeded') GROUP BY org, workspace
  ) n ON r.org = n.org AND r.id = n.failed WHERE n.fine IS NULL OR n.failed > n.fine;
-- A body is JSON, in which no value has a quotation mark without a backslash before it.
REPLACE INTO run_troubles (org, workspace, trouble, run, ended)
  SELECT r.org, r.workspace, 'drift', r.id, COALESCE(r.ended, 0) FROM runs r JOIN (
    SELECT org, MAX(id) AS looked FROM runs WHERE kind = 'drift' AND status = 'succeeded' GROUP BY org, workspace
  ) n ON r.org = n.org AND r.id = n.looked
  WHERE r.body LIKE '%"Counts":{%' AND (r.body LIKE '%"any":true%' OR r.body NOT LIKE '%"drift":0,%');
