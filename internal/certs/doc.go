// Package certs keeps what a TLS server shows and trusts in step with its files: its
// certificate and key, and the authorities of its clients' certificates.
//
// Package follow reads the files anew every second. They are small, and so it does not
// matter how they are replaced (in place, renamed over, through the symbolic links of
// Kubernetes), nor on which file system. What two looks in a row have found the same is
// taken: files that are being replaced, of which one is new and the other old yet, are left
// alone. What makes no sense even then is logged, once, and the last good stays in force.
package certs
