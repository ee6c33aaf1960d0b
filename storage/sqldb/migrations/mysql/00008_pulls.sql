-- +goose NO TRANSACTION
-- +goose Up

-- Pull requests of repositories, with what was planned of them.
CREATE TABLE IF NOT EXISTS pull_requests (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number     BIGINT NOT NULL,
  due        BIGINT NOT NULL,
  hints      BIGINT NOT NULL,
  claim      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  claimed    BIGINT NOT NULL,
  revision   BIGINT NOT NULL,
  body       MEDIUMTEXT NOT NULL,
  PRIMARY KEY (org, repository, number),
  KEY pull_requests_by_due (due)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What repositories want of pull requests.
CREATE TABLE IF NOT EXISTS pull_settings (
  org        CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  repository VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  body       TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, repository)
) ENGINE = InnoDB;
