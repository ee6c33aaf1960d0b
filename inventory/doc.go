// Package inventory is what Holdfast knows about uploaded resources: what providers
// report, its limits, how it is recorded, and how it is read back.
//
// An upload goes through Service, which checks the caller and turns the request into a
// Batch; a Store records the batch whole or not at all. Nothing here knows HTTP or SQL.
package inventory
