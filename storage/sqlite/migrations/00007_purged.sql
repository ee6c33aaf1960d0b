-- +goose Up

-- The digests of what was purged, so that the same bytes don't come back unasked. They stay
-- when retention removes the versions that had them.
CREATE TABLE purged (
  state  INTEGER NOT NULL REFERENCES states (id),
  digest BLOB NOT NULL,
  PRIMARY KEY (state, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO purged (state, digest) SELECT DISTINCT state, digest FROM versions WHERE purged = 1;

-- Whether a state has any: nearly none has, and no write of theirs looks for them.
ALTER TABLE states ADD COLUMN purges INTEGER NOT NULL DEFAULT 0;
UPDATE states SET purges = 1 WHERE id IN (SELECT state FROM purged);
