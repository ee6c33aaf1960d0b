// Package stateengine is what engines of state.Store have in common whatever their database: the
// rules by which a change is decided and recorded, how bodies are encoded and checked, and what rows
// look like. An engine brings the statements, the transactions and what is special about them.
//
//	encode.go     a body becomes a delta of a version before, or is compressed whole
//	codec.go      bodies are compressed, and checked on the way back
//	bases.go      the versions that the next ones may be deltas of
//	update.go     a decision is asked for, and its change becomes rows
//	facts.go      what stands against it
//	columns.go    what rows hold, and rows.go what they say
//	lists.go      pages of states, and events.go of events, in short looks
//	detach.go     what leans on a version that goes is stored anew
//	prune.go      which versions go
package stateengine
