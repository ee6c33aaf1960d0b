// Package resources is the one inventory of an organization: the resources of all its
// states beside those that were uploaded. It says which state holds an object, what is
// managed and what is not, and how a resource changed from version to version.
//
// What is searched is an [Index], which is derived: an [Indexer] fills it behind the back
// of whoever writes, and makes it anew at each start, from the newest versions and
// records. Histories are read from the versions themselves.
package resources
