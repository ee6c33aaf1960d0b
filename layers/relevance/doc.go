// Package relevance says which layers of a repository a commit changes, and why: by the files that the tools would
// read, which are found in the configuration itself.
//
// A layer reads the configuration of its folder with tfvars and lock file, that of each local module it calls, and
// files that are named by file, templatefile, fileset and the like, or by a path that begins with path.module. What
// only a plan could know makes the whole folder relevant that it may be in.
package relevance
