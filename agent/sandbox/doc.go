// Package sandbox closes to a command what it has no business with. A plan runs code that
// somebody else wrote, as an apply does: it may read its own folder and the tools, and nothing
// of the server, of its data or of other runs.
//
// The package has three levels. With Landlock the command restricts itself before it starts
// the tool; that needs no privileges. With namespaces it also sees a file system and processes
// of its own, which bubblewrap makes. What was reached is reported, and a policy names the
// least it wants.
//
// All of it is Linux's. Elsewhere the level is none, and a policy that wants more is refused.
package sandbox
