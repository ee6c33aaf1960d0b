-- +goose NO TRANSACTION
-- +goose Up

-- Bundles of policies, by version. The workspace of the organization's own is empty.
CREATE TABLE IF NOT EXISTS policies (
  org       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version   BIGINT NOT NULL,
  about     MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON
  files     MEDIUMBLOB NOT NULL,  -- JSON
  PRIMARY KEY (org, workspace, name, version)
) ENGINE = InnoDB;
