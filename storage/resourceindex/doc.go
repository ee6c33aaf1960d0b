// Package resourceindex keeps the inventory's index in an SQLite database in memory. All that is in it is derived: each
// process makes it anew.
package resourceindex
