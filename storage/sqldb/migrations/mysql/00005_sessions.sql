-- +goose NO TRANSACTION
-- +goose Up

-- The sessions of people who use the page. There is no token in it, but the SHA-256 of each.
CREATE TABLE IF NOT EXISTS sessions (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  hash     CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- in hexadecimal
  holder   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- SHA-256 of whose it is, in hexadecimal
  login    TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,  -- JSON: how it began
  began_at BIGINT NOT NULL,
  seen_at  BIGINT NOT NULL,
  ends_at  BIGINT NOT NULL,
  address  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  agent    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  PRIMARY KEY (org, hash),
  KEY sessions_of_holder (org, holder, seen_at),
  KEY sessions_seen (seen_at),
  KEY sessions_ends (ends_at)
) ENGINE = InnoDB;
