-- +goose Up

-- The data keys that organizations' states are sealed with, wrapped under a master key.
CREATE TABLE data_keys (
  org     TEXT NOT NULL,
  number  INTEGER NOT NULL,
  id      BLOB NOT NULL,
  wrapped BLOB NOT NULL,
  PRIMARY KEY (org, number)
) STRICT, WITHOUT ROWID;

-- Whether states are sealed: no row for a store that is not, 'sealing' while what is plain is on its way, then
-- 'sealed'. The mark is the master key's, so that nobody else can say so. What is sealed has an encoding that begins
-- with 'sealed-', and 64 bytes for each digest.
CREATE TABLE sealing (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  status TEXT NOT NULL,
  mark   BLOB NOT NULL
) STRICT;

-- What sealing adds to bytes, 53 of them, is not counted: an organization's usage is the same whether its states are
-- sealed or not.
DROP TRIGGER usage_body_added;
DROP TRIGGER usage_body_replaced;
DROP TRIGGER usage_body_removed;
DROP TRIGGER usage_candidate_added;
DROP TRIGGER usage_candidate_settled;
DROP TRIGGER usage_candidate_removed;

-- +goose StatementBegin
CREATE TRIGGER usage_body_added AFTER INSERT ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes) - 53 * (NEW.encoding GLOB 'sealed-*')
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_replaced BEFORE UPDATE OF bytes ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes) - 53 * (NEW.encoding GLOB 'sealed-*')
      - (SELECT length(b.bytes) - 53 * (b.encoding GLOB 'sealed-*') FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_removed BEFORE DELETE ON bodies BEGIN
  UPDATE usage SET bytes = bytes - (SELECT length(b.bytes) - 53 * (b.encoding GLOB 'sealed-*') FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_added AFTER INSERT ON candidates BEGIN
  UPDATE usage SET bytes = bytes + 512 + ifnull(length(NEW.bytes) - 53 * (NEW.encoding GLOB 'sealed-*'), 0)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = NEW.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_settled BEFORE UPDATE OF bytes ON candidates BEGIN
  UPDATE usage SET bytes = bytes + ifnull(length(NEW.bytes) - 53 * (NEW.encoding GLOB 'sealed-*'), 0)
      - (SELECT ifnull(length(c.bytes) - 53 * (c.encoding GLOB 'sealed-*'), 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_removed BEFORE DELETE ON candidates BEGIN
  UPDATE usage SET bytes = bytes - 512
      - (SELECT ifnull(length(c.bytes) - 53 * (c.encoding GLOB 'sealed-*'), 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd
