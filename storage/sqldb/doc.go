// Package sqldb is one layer over database/sql for what is written once and kept in SQLite or
// in a database that speaks MySQL's protocol: workspaces, runs and what belongs to them. It
// gives transactions that mean the same in both, the few statements that differ, and blobs.
//
// What SQL here has to keep to, so that it means the same everywhere:
//
//   - Placeholders are "?". Times are microseconds in an integer, organizations are UUIDs as
//     text, numbers fit an int64, truth is 0 or 1.
//   - Bytes are in BLOB columns, at most MaxRow in a row; nothing is of type JSON.
//   - Texts that compare byte for byte: in MySQL's schema ascii_bin, utf8mb4_bin, or VARBINARY
//     where a blank at the end counts.
//   - No RETURNING, no SKIP LOCKED, no functional indexes, no FOR UPDATE: an organization's
//     writes run one after another anyway.
//   - A claim among rows of several organizations finds its candidates by Read, and then writes
//     in the candidate's organization, if the row is still as it was.
package sqldb
