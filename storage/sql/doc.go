// Package sqluploads keeps uploads in a database on a server: MySQL 8.4, MariaDB 10.6, TiDB or PostgreSQL 14, or
// later. Several nodes may share one database. It is not called sql, as its files import database/sql.
//
// An Append travels like this:
//
//	append.go   it joins its organization's queue, or leaves it in time
//	shares.go   which waits for one of the connections, in turns with the others
//	queue.go    what is queued for one organization becomes one group
//	commit.go   a group is one transaction, tried again after conflicts and lost connections
//	record.go   what that transaction decides
//	rows.go     the resources as rows, tally.go what is counted beside them
//
// and a reader like this:
//
//	records.go  pages follow each other by ID, up to what was newest at the start
//	page.go     one page is one statement, bounded in rows and bytes
//	cursor.go   a position that a caller can keep and can't forge
//
// What the servers do differently is in two files: dialect.go has their SQL, engine.go all else.
//
// Each organization has a table of its own, org_{uuid_with_underscores}; the rest is in
// the tables of migrations/. A row of inventory_organizations is locked while one of its
// organization's transactions runs, on whichever node: so IDs and timestamps only grow,
// and whoever comes after a lost connection learns what became of it.
package sqluploads
