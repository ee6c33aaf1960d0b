// Package facts reads what show -json says of a plan, with sensitive values masked, and tells what
// follows from it for certain: what changes and how, what is replaced because of which attribute,
// what can't be undone, what drifted, and what depends on what changes. It asks nobody and guesses
// nothing: the same plan gives the same facts.
package facts
