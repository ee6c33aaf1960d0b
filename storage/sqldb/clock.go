package sqldb

// Now is the database's own time in SQL, in microseconds since 1970: nodes whose clocks differ
// agree on it.
func (d Dialect) Now() string {
	switch d {
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
	}
	return "CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)"
}
