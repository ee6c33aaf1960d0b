// Package document understands Terraform and OpenTofu states of format version 4: what is
// in them, what is sensitive, how two of them differ, and the views that may be shown to
// somebody who must not see all of it.
//
// A [Document] holds no tree: values stay slices of the body, so that a state of 100 MB
// costs its own size and a few hundred bytes for each resource instance. Whoever keeps a
// Document or a [Diff] keeps the body with it.
//
// # Sensitive values
//
// What is sensitive is what the client marked: the paths in an instance's
// sensitive_attributes, and outputs with sensitive set. A mark that can't be followed to a
// value hides the whole attribute, and what is marked in one place of an instance is hidden
// in all, its identity too: strings of four characters, numbers of four digits, and any
// value that the format wraps with its type. What no mark names can't be told from any
// other value: clients that mark only what the configuration calls sensitive leave an
// attribute open that only the provider's schema calls so.
//
// The format is what the clients' own internal/states/statefile/version4.go reads and
// writes. Names of members match exactly.
package document
