// Package mysqldump writes all tables of a database on a MySQL or MariaDB server as they are at one moment, and loads
// them into an empty one. It knows nothing of what is in them.
//
// Each value of a row is a uvarint, 0 for NULL and else the length plus one, and its bytes as the server writes them as
// text. Before each row is a byte 1, and behind the last a byte 0.
package mysqldump
