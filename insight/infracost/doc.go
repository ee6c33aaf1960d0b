// Package infracost reads what Infracost says that a plan costs. What it reads is somebody else's: it is bounded, and
// what is no such file is an error and never a part of one.
package infracost
