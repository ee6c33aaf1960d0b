// Package cost tells what the resources of a plan cost per month, by a price sheet: a CSV file with
// what a price is of, its source and its date. What the sheet has no price of is named, and is not
// counted as nothing. Prices are list prices in US dollars, of what runs all the time; traffic,
// requests and storage that grows are not in it.
package cost
