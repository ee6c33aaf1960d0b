// Package sqlruns is runs.Store over sqldb: in SQLite, or in a database that speaks MySQL's
// protocol.
//
// A run is a row: its JSON, and columns derived from that by which it is found. What depends on
// several runs is kept up to date in the transaction that changes one of them (line.go,
// queue.go): who holds a workspace's slot, which run is the first that waits for it, and which
// organizations have runs that may be claimed. A claim looks at those alone, so that it costs
// the same behind any number of waiting and ended runs.
//
// An organization's transactions run one after another (sqldb.DB.Write), which is what makes
// each of them right; a change of a run is conditional on its revision all the same.
package sqlruns
