-- +goose Up

-- Which of the sides that have refused the batch did so only because they know its ID for
-- another one: if the other side turns out to have it, they are owed it by another ID.
ALTER TABLE batches ADD COLUMN knows INTEGER NOT NULL DEFAULT 0;

-- The timestamp with which a dead letter was last tried again, and nobody knows whether the side
-- has it by that; 0 is none. And how many like it the side had by that timestamp before.
ALTER TABLE dead_letters ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dead_letters ADD COLUMN alike INTEGER NOT NULL DEFAULT 0;
