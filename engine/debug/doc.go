// Package debug looks into states and configurations: what a state has and what is wrong with it, what is
// different between two, and a picture of what depends on what. It changes nothing.
package debug
