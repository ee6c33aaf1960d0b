// Package bench measures a Holdfast server, or whatever speaks its protocol, as its clients
// see it: connections that each do one thing after the other, for a while, and check every
// byte that comes back.
//
// The client is a small one, because it takes its processor time from the server when both
// run on one machine: requests are written as they are, and answers are compared piece by
// piece with what they must be.
package bench
