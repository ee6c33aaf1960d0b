// Package state is what Holdfast knows about Terraform and OpenTofu state: names, lock
// infos, versions, and the rules that decide who may write when.
//
// A call goes through Service, which checks the caller and builds a decision (rules.go);
// the Store runs that decision inside one transaction. Nothing here knows HTTP or SQL.
package state
