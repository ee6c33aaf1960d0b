// Package changes understands what OpenTofu and Terraform say of their work: what show -json says
// of a plan, and the lines that plan -json and apply -json print.
//
// [Parse] reads a plan's JSON as a stream, of which it keeps only the changes, and masks in them
// whatever is sensitive. [Plan.Digest] is equal for plans that would do the same, so that an
// approval can outlive a new plan, and [Plan.SubsetOf] tells whether a plan does nothing that
// another one does not. [Plan.Redact] writes the whole JSON again, fit to be shown.
// [Stream] follows the lines of a run, and [Renderer] makes the log of them that people expect.
//
// # Sensitive values
//
// What is sensitive is what the tool marks (before_sensitive, after_sensitive, sensitive_values,
// sensitive outputs), the variables that the configuration or the caller calls sensitive, and what
// is called like a credential in a provider's configuration. A mark in before counts in after too,
// and the other way around.
//
// Marks do not follow a value everywhere: the output of a terraform_data has the very value that
// is marked in its input, unmarked. So what is sensitive in one place is hidden wherever else it
// stands. A value of a variable or an output is looked for in the whole plan, from 4 bytes on; one
// that is marked in a resource is looked for in that resource, and, from 12 bytes on, in the whole
// plan: shorter ones, such as a port or the name of a region, stand in many places for other
// reasons. From 8 bytes on a value is also found within a longer text.
//
// Nothing here keeps a value out of memory. A Plan holds the changed values unmasked, for
// SubsetOf; it shows nothing of them, printed or as JSON.
package changes
