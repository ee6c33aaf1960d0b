-- +goose Up

-- bodies.encoding may be 'delta' from here on: what a version has that another one of the
-- same state has not. base is that one's bodies.id, and null in rows that stand on their own;
-- its own base is null. No foreign key: to delete a body would then mean to search them all.
ALTER TABLE bodies ADD COLUMN base INTEGER;
