-- +goose NO TRANSACTION
-- +goose Up

-- What shows that who has written a row about auth.cfg has the master key: a revision, or a node's copy.
CREATE TABLE IF NOT EXISTS auth_marks (
  what VARBINARY(64) NOT NULL PRIMARY KEY,
  mark VARBINARY(64) NOT NULL
) ENGINE = InnoDB;
