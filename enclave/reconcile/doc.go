// Package reconcile makes what there is as a folder of enclaves says: it keeps a workspace for each
// partition, orders runs by imports, and takes away what the folder no longer has. Nothing of where it stands is
// kept here: whoever begins again, after a crash or a failure, looks at the server and goes on.
package reconcile
