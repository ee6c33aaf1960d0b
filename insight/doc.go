// Package insight says what a plan means: its facts, what rules find in it, what it costs, and a
// summary in words made of these. Nothing of it is guessed. [Engine] makes an insight of a plan,
// and [Service] does for a run's, as the only door of the server to it.
//
// A rule that breaks, a plan with more changes than are looked at, and a finding of high or
// critical severity are each a reason for people to approve: what could not be looked at is never
// taken for harmless.
package insight
