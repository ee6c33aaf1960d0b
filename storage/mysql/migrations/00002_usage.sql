-- +goose NO TRANSACTION
-- +goose Up

-- How many bytes each organization has stored, as inventory.Batch counts them: kept by the
-- transactions that record batches. What was there before counts 512 for each record.
CREATE TABLE IF NOT EXISTS inventory_usage (
  org   CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  bytes BIGINT NOT NULL
) ENGINE = InnoDB;
INSERT IGNORE INTO inventory_usage (org, bytes) SELECT org, SUM(records) * 512 FROM inventory_groups GROUP BY org;
