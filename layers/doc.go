// Package layers keeps workspaces at what a repository says. A layer is a workspace whose configuration comes from a
// folder of a branch; what is known of it gives its conditions, and those the state that says what is to be done.
//
// The rules are pure functions of durable facts and a time: Conditions, StateOf, RunConditions, RunStateOf, Decide.
package layers
