// Package resourceindex keeps the inventory's index in an SQLite database of its own. All
// that is in it is derived: the file may be deleted while the server is stopped, and is
// made again. The version of its schema is that of the whole file: one of another version
// is thrown away.
package resourceindex
