// Package vitals has what parts of the server count of themselves, for whoever watches them.
package vitals
