-- +goose NO TRANSACTION
-- +goose Up

-- The last event of each organization that retention has removed (see audit.Checkpoint). The row of no organization
-- says up to which event the log has no rows at all any more.
CREATE TABLE IF NOT EXISTS state_checkpoints (
  org      CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  sequence BIGINT NOT NULL,
  place    BIGINT NOT NULL,  -- in the chain; 0 for one from before it
  hash     VARBINARY(32) NOT NULL,
  at       BIGINT NOT NULL
) ENGINE = InnoDB;
