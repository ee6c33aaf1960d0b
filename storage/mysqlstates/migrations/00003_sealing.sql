-- +goose NO TRANSACTION
-- +goose Up

-- The data keys that organizations' states are sealed with, wrapped under a master key.
CREATE TABLE IF NOT EXISTS state_data_keys (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  number  INT UNSIGNED NOT NULL,
  id      VARBINARY(8) NOT NULL,
  wrapped VARBINARY(1024) NOT NULL,
  PRIMARY KEY (org, number)
) ENGINE = InnoDB;

-- Whether states are sealed: no row for a database that is not, 'sealing' while what is plain is on its way, then
-- 'sealed'. The mark is the master key's, so that nobody else can say so. What is sealed has an encoding that begins
-- with 'sealed-', and 64 bytes for each digest.
CREATE TABLE IF NOT EXISTS state_sealing (
  id     INT NOT NULL PRIMARY KEY,
  status VARBINARY(16) NOT NULL,
  mark   VARBINARY(64) NOT NULL
) ENGINE = InnoDB;

ALTER TABLE state_versions MODIFY COLUMN digest VARBINARY(64) NOT NULL;
ALTER TABLE state_candidates MODIFY COLUMN digest VARBINARY(64) NOT NULL;
ALTER TABLE state_candidates MODIFY COLUMN content VARBINARY(64) NOT NULL;
ALTER TABLE state_purged MODIFY COLUMN digest VARBINARY(64) NOT NULL;
