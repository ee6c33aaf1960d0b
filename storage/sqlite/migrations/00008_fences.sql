-- +goose Up

-- Which run may lock and write the state, in which of its epochs, and whether it still may.
ALTER TABLE states ADD COLUMN fence_run TEXT NOT NULL DEFAULT '';
ALTER TABLE states ADD COLUMN fence_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE states ADD COLUMN fence_open INTEGER NOT NULL DEFAULT 0;

-- The run that holds the lock, and the epoch in which it took it; null for everybody else.
ALTER TABLE states ADD COLUMN lock_run TEXT;
ALTER TABLE states ADD COLUMN lock_epoch INTEGER;
