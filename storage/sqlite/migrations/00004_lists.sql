-- +goose Up

-- The events that an organization and a state have are listed for many of them at once: each
-- list has pages of its own, which a lock or a write would change for one entry. Events that
-- are not listed yet are the last few of the log.
ALTER TABLE events ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;
DROP INDEX events_org;
DROP INDEX events_state;
CREATE INDEX events_org ON events (org) WHERE listed = 1;
CREATE INDEX events_state ON events (org, state) WHERE listed = 1;
