// Package policy keeps what organizations and workspaces bring of their own for insights: bundles of
// policies in Rego, of waivers and of prices. A bundle has versions, of which the newest is in force,
// and is taken only if it compiles and its tests pass. [Service] is the door to them.
package policy
