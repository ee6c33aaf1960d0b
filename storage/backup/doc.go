// Package backup writes all that a server keeps in its folder into one encrypted file, and brings it back.
//
//	source.go   one moment of a folder, which a server may go on to write
//	format.go   what the parts of an archive are called, and what its manifest says
//	write.go    an archive is written as a stream, whole or as what changed since another one
//	read.go     it is read, with everything refused that this package does not write
//	verify.go   it is compared with its manifest, and nothing is written
//	restore.go  archives become a folder, which is there whole or not at all
//
// An archive is a tar within zstd within age. age says where an archive was changed or cut off; the digests in
// the manifest say that what was read is what was there.
package backup
