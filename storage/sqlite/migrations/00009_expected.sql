-- +goose Up

-- The change of the state that somebody has announced, as JSON; null for none, as nearly always.
ALTER TABLE states ADD COLUMN expected TEXT;

-- What a list of expected changes reads.
CREATE INDEX states_expected ON states (org, name) WHERE expected IS NOT NULL;

-- The digest of a candidate's body without its serial: tries of one write have the same one. It
-- is empty for candidates that came before it was kept.
ALTER TABLE candidates ADD COLUMN content BLOB NOT NULL DEFAULT x'';
