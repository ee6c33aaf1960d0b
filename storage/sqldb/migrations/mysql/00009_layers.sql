-- +goose NO TRANSACTION
-- +goose Up

-- Layers: workspaces whose configuration comes from a repository, with what is remembered of each.
CREATE TABLE IF NOT EXISTS layers (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name       VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  revision   BIGINT NOT NULL,
  due_at     BIGINT NOT NULL,            -- microseconds; 0 for never
  checking   INT NOT NULL,               -- 1 while a check for drift goes on
  document   MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: all else
  PRIMARY KEY (org, name),
  KEY layers_due (due_at),
  KEY layers_of_repository (org, repository, name),
  KEY layers_checking (org, checking)
) ENGINE = InnoDB;
