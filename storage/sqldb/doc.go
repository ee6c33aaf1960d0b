// Package sqldb is one layer over database/sql for what is written once and kept in SQLite, in a
// database that speaks MySQL's protocol, or in PostgreSQL: workspaces, runs and what belongs to them.
// It gives transactions that mean the same in all, the few statements that differ, and blobs.
//
// What SQL here has to keep to, so that it means the same everywhere:
//
//   - Placeholders are "?". Times are microseconds in an integer, organizations are UUIDs as
//     text, numbers fit an int64, truth is 0 or 1.
//   - Bytes are in BLOB or BYTEA columns, at most MaxRow in a row; nothing is of type JSON, and
//     Dialect.Member reads a member of what is JSON in a text.
//   - Texts that compare byte for byte: in MySQL's schema ascii_bin, utf8mb4_bin, or VARBINARY
//     where a blank at the end counts, in PostgreSQL's COLLATE "C".
//   - A value that stands where no column says its type, as behind THEN and ELSE, is a
//     Dialect.Number. Names of columns are reserved in none of the three.
//   - An INSERT that may find its row there goes by Insert: in PostgreSQL any other error ends the
//     transaction.
//   - No RETURNING, no SKIP LOCKED, no functional indexes, no FOR UPDATE: an organization's
//     writes run one after another anyway.
//   - A claim among rows of several organizations finds its candidates by Read, and then writes
//     in the candidate's organization, if the row is still as it was.
package sqldb
