// Package workspace is what Holdfast knows of a workspace beside its state: settings, variables,
// and configurations as immutable snapshots of files. A workspace and its state have one name.
//
// A call goes through Service, which checks the caller and what they bring; the Store keeps it.
// Values of variables and contents of files are sealed before they are stored. Nothing here
// knows HTTP or SQL.
package workspace
