-- +goose NO TRANSACTION
-- +goose Up

-- What checks of a layer have found, by the day in UTC on which they ended.
CREATE TABLE IF NOT EXISTS layer_days (
  org     CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  day     BIGINT NOT NULL,               -- since 1970
  layer   VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  checks  BIGINT NOT NULL,
  found   BIGINT NOT NULL,               -- checks that have found drift
  drifted BIGINT NOT NULL,               -- resources, at the end of the day
  fresh   BIGINT NOT NULL,               -- resources that had not drifted before
  healed  BIGINT NOT NULL,               -- resources that are as planned again
  PRIMARY KEY (org, day, layer),
  KEY layer_days_of_layer (org, layer, day)
) ENGINE = InnoDB;
