-- +goose NO TRANSACTION
-- +goose Up

-- The texts of auth.cfg, of which the one with the highest number counts. at is the database's time.
CREATE TABLE IF NOT EXISTS auth_revisions (
  number  BIGINT NOT NULL PRIMARY KEY,
  at      BIGINT NOT NULL,
  size    BIGINT NOT NULL,
  digest  CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  made_by VARBINARY(255) NOT NULL
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS auth_pieces (
  number BIGINT NOT NULL,
  piece  INT NOT NULL,
  bytes  MEDIUMBLOB NOT NULL,
  PRIMARY KEY (number, piece)
) ENGINE = InnoDB;

-- Which copy of auth.cfg each running node has in force, and when it was last heard of.
CREATE TABLE IF NOT EXISTS auth_copies (
  node     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name     VARBINARY(255) NOT NULL,
  revision BIGINT NOT NULL,
  digest   CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  at       BIGINT NOT NULL,
  seen     BIGINT NOT NULL
) ENGINE = InnoDB;

-- When and from where credentials were last used, on whichever node.
CREATE TABLE IF NOT EXISTS key_uses (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  key_id  VARBINARY(255) NOT NULL,
  at      BIGINT NOT NULL,
  address VARBINARY(255) NOT NULL,
  PRIMARY KEY (org, key_id)
) ENGINE = InnoDB;
