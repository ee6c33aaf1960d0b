-- +goose NO TRANSACTION
-- +goose Up

-- Where configurations come from. The credentials are sealed under the ID.
CREATE TABLE IF NOT EXISTS repositories (
  org         CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id          CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- random; the address of its webhook has it
  settings    MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON
  sealed      MEDIUMBLOB NOT NULL,
  revision    BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  updated_at  BIGINT NOT NULL,
  updated_by  TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: who
  status      MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: how the newest fetch went
  tried_at    BIGINT NOT NULL,  -- when that began
  due_at      BIGINT NOT NULL,  -- when it is fetched next
  hints       BIGINT NOT NULL,  -- how many there were
  claim       CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- token of who fetches it; empty for nobody
  claim_until BIGINT NOT NULL,
  PRIMARY KEY (org, name),
  UNIQUE KEY repositories_id (id),
  KEY repositories_due (due_at)
) ENGINE = InnoDB;

-- What was dealt with of what git servers have told: digests of IDs and of bodies.
CREATE TABLE IF NOT EXISTS repository_deliveries (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  what       VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  noted_at   BIGINT NOT NULL,
  done       INT NOT NULL,
  PRIMARY KEY (org, repository, what),
  KEY repository_deliveries_noted (noted_at)
) ENGINE = InnoDB;
