// Package auth says who is calling.
//
// It reads and edits auth.cfg (Document, Edit), keeps the organizations and key hashes
// that are in force (Keyring, Watcher), and checks a key against them (Verifier). It
// knows nothing of HTTP: package middleware takes the credentials out of a request, and
// package oidc checks tokens, whose issuers must be asked for keys.
package auth
