// Package tools keeps the binaries that runs execute: OpenTofu, Terraform and Terragrunt, each
// version with its SHA-256, in a folder of their own.
//
// A binary comes in from a file (Add), from a PATH (FindOnPath) or from a mirror of its makers'
// releases (Download), whose list of checksums must be signed by a key that the operator
// trusts. What came in is whole and verified or not there: it is made in a staging folder,
// synced, asked for its name and version, and renamed to
//
//	<root>/<tool>/<version>/<os>_<arch>/<binary>
//
// with record.json beside it. Open computes the digest again before it hands out a path, and
// refuses a binary that has changed. Resolve finds the version that a configuration asks for.
//
// Several processes may use one folder: what changes a version holds a file lock of that
// version meanwhile, so that the same download is made once.
//
// Plugins writes the CLI configuration that says where a tool has its providers from.
package tools
