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
// sensitive_attributes, and outputs with sensitive set. Terraform before 1.10 and OpenTofu
// before 1.9 mark only what the configuration calls sensitive; there, an attribute that
// only the provider's schema calls so, such as random_password.result, can't be told from
// any other. A mark that can't be followed to a value hides the whole attribute.
//
// The format is what the clients' own internal/states/statefile/version4.go reads and
// writes. Names of members match exactly.
package document
