-- +goose Up

-- How many bytes are kept for an organization: what state.Store says of Usage. Triggers keep
-- it, so that whatever changes a row changes the sum with it, in one transaction.
CREATE TABLE usage (
  org   TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whose a state was that is being removed in pieces: org is empty by then, and what is left
-- still takes up room.
ALTER TABLE states ADD COLUMN owner TEXT;

INSERT INTO usage (org, bytes)
  SELECT org, sum(bytes) FROM (
    SELECT s.org, 512 + 2 * (max(ifnull(length(s.lock_raw), 0), 1024) - 1024) AS bytes FROM states s
    UNION ALL SELECT s.org, 512 + ifnull(length(b.bytes), 0) FROM versions v JOIN states s ON s.id = v.state LEFT JOIN bodies b ON b.id = v.id
    UNION ALL SELECT s.org, 512 + ifnull(length(c.bytes), 0) FROM candidates c JOIN states s ON s.id = c.state)
  GROUP BY org;

-- What is removed or replaced is measured where it is, before it goes: OLD.bytes would be
-- read into memory for its length.

-- +goose StatementBegin
CREATE TRIGGER usage_state_added AFTER INSERT ON states BEGIN
  INSERT INTO usage (org, bytes) VALUES (NEW.org, 512) ON CONFLICT (org) DO UPDATE SET bytes = bytes + 512;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_state_removed AFTER DELETE ON states BEGIN
  UPDATE usage SET bytes = bytes - 512 - 2 * (max(ifnull(length(OLD.lock_raw), 0), 1024) - 1024)
    WHERE org = ifnull(OLD.owner, OLD.org);
END;
-- +goose StatementEnd

-- The locks of usual clients cost nothing here.
-- +goose StatementBegin
CREATE TRIGGER usage_lock AFTER UPDATE OF lock_raw ON states
  WHEN length(NEW.lock_raw) > 1024 OR length(OLD.lock_raw) > 1024
BEGIN
  UPDATE usage SET bytes = bytes + 2 * (max(ifnull(length(NEW.lock_raw), 0), 1024) - max(ifnull(length(OLD.lock_raw), 0), 1024))
    WHERE org = ifnull(NEW.owner, NEW.org);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_version_added AFTER INSERT ON versions BEGIN
  UPDATE usage SET bytes = bytes + 512 WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = NEW.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_version_removed AFTER DELETE ON versions BEGIN
  UPDATE usage SET bytes = bytes - 512 WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_added AFTER INSERT ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_replaced BEFORE UPDATE OF bytes ON bodies BEGIN
  UPDATE usage SET bytes = bytes + length(NEW.bytes) - (SELECT length(b.bytes) FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_body_removed BEFORE DELETE ON bodies BEGIN
  UPDATE usage SET bytes = bytes - (SELECT length(b.bytes) FROM bodies b WHERE b.id = OLD.id)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM versions v JOIN states s ON s.id = v.state WHERE v.id = OLD.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_added AFTER INSERT ON candidates BEGIN
  UPDATE usage SET bytes = bytes + 512 + ifnull(length(NEW.bytes), 0)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = NEW.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_settled BEFORE UPDATE OF bytes ON candidates BEGIN
  UPDATE usage SET bytes = bytes + ifnull(length(NEW.bytes), 0) - (SELECT ifnull(length(c.bytes), 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER usage_candidate_removed BEFORE DELETE ON candidates BEGIN
  UPDATE usage SET bytes = bytes - 512 - (SELECT ifnull(length(c.bytes), 0) FROM candidates c WHERE c.row = OLD.row)
    WHERE org = (SELECT ifnull(s.owner, s.org) FROM states s WHERE s.id = OLD.state);
END;
-- +goose StatementEnd
