// Package live tells those who have a page open what has changed in their organization: of states
// and workspaces what the audit log says, and of runs where each is by now. Both are durable and
// numbered, by organization, in the order in which they come to be seen: so a reader who was away
// goes on where it was, on whichever node. What is told is which thing has changed, and not how: who
// wants to know reads it, and is then asked for their right as always.
package live
