-- +goose Up

-- What tells the program and the rules that filled the index from others; empty if nobody
-- knows.
ALTER TABLE position ADD COLUMN reader TEXT NOT NULL DEFAULT '';
