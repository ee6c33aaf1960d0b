// Package mysqltest finds or starts a real MySQL-protocol server for tests.
//
// Find takes the server at DB_HOST, or the local default, when it answers. Else Start runs
// a private one from the machine's mariadbd or mysqld, in a temporary directory and on a
// free port of the loopback interface; as root it may install MariaDB from the
// distribution's packages first. What is done, it says on stderr.
//
// A package's TestMain calls Main, its tests call New, which gives each a database of its
// own. The command in with/ does the same once for several packages.
package mysqltest
