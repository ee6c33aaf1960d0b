// Package enclave knows what a folder of enclaves says: partitions, what they import from each other, in which
// order they come, and what each gets as variables and environment. It reads files, and has no other effects.
package enclave
