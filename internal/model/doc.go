// Package model has a language model put an insight into words, estimate costs that the price sheet doesn't know, and
// say what else it finds. It is sent names, counts and the rules' own words, and no value of a plan. What it answers
// is checked, bounded and shown as the model's: it adds to an insight and takes nothing away.
package model
