// Package auth says who a caller is and what it may do: principals with their roles,
// rights and patterns of states, the credentials that callers send, and the form of keys.
//
// It is what domains import, so it is small. Package authfile reads, edits and watches
// auth.cfg, package keyring has what the file says of credentials, package verify checks
// credentials against that, and package lastuse remembers when they were used last. None
// of them knows HTTP: package middleware takes the credentials out of a request, and
// package oidc checks tokens, whose issuers must be asked for keys.
package auth
