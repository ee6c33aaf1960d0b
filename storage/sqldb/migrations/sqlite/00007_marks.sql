-- +goose Up

-- What shows that who has written a row about auth.cfg has the master key: a revision, or a node's copy.
CREATE TABLE auth_marks (
  what TEXT NOT NULL PRIMARY KEY,
  mark BLOB NOT NULL
) STRICT, WITHOUT ROWID;
