// Package lfs downloads files of Git LFS from the server of a repository, by its batch interface and without a program
// of others. It is told which file by its digest, and holds what comes to it. Where the files are, the server says:
// each address is held to the rules of the repository's own, and nothing but what the server gives for it is shown
// there.
package lfs
