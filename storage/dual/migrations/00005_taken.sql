-- +goose Up

-- How many batches like a dead letter the side has by its timestamp that were other dead letters,
-- recorded or found there since.
ALTER TABLE dead_letters ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
