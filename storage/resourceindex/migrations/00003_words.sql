-- +goose Up

-- One full-text index for all organizations merged the postings of all of them in each
-- search. What is searched now has the organization in front of each word.
DROP TABLE search;
ALTER TABLE resources ADD COLUMN text TEXT NOT NULL DEFAULT ''; -- its words in turn, each behind a space
CREATE TABLE words (
  org      INTEGER NOT NULL,
  word     TEXT NOT NULL,
  resource INTEGER NOT NULL,
  PRIMARY KEY (org, word, resource)
) STRICT, WITHOUT ROWID;

CREATE INDEX holdings_unread ON holdings (org, state) WHERE live = 1 AND unread <> '';

-- What is in here was read without words: a reader that nobody is has all of it made again.
UPDATE position SET reader = '', complete = 1 WHERE EXISTS (SELECT 1 FROM orgs);
