// Package middleware is what every request passes before its handler: security headers,
// request ID, log, recovery from panics, authentication; and what it passes on the way
// back when it failed: one table from a fault's kind to an HTTP status.
package middleware
