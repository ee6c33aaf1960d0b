// Package forgetest has forges for tests: one repository each, in memory, that speaks as the provider
// does, with pages, limits and refusals.
package forgetest
