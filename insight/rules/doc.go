// Package rules asks policies about plans. They are written in Rego with conftest's conventions:
// what a package's deny, violation and warn have are findings, each a text, or an object with a
// msg. Who has such policies brings them as they are; [Builtin] are ours.
//
// A policy sees what show -json says of a plan, with sensitive values masked, and nothing else: it
// can reach no network and no environment. One that breaks, or takes too long, is reported as
// broken, and whoever gates by findings does not let the plan pass.
package rules
