// Package seal encrypts what is kept at rest: states, variables, configurations, plans, logs and lock
// files of an organization, each bound to its organization, its kind and its name.
//
// What is sealed can't be read, changed, or passed off as anything else by who has no key. Who
// can write where it is kept can still delete it, or put back what was sealed for the same
// organization, kind and name before: names that are used once, such as those with a run's ID,
// leave nothing to put back. Lengths show.
//
// # Keys
//
// A master key is a line of the master file. One of an older file is 32 random bytes, and wraps all data keys.
// One of today is a tree that gives each organization a secret of its own, by an HMAC for each bit of its UUID:
// it can forget an organization, by replacing its root with the branches beside the organization's path.
//
// Each organization has data keys, 32
// random bytes too, with the numbers 1, 2, 3 and so on. The newest data key seals, all of them
// open. Data keys are kept by a Keys, wrapped, which is to say encrypted under a master key.
// The newest master key wraps, all of the file unwrap.
//
// All encryption is XAES-256-GCM as C2SP specifies it (c2sp.org/XAES-256-GCM): AES-256-GCM
// under a key and a nonce that are derived from a 256-bit key and 192 random bits. These bits
// are drawn anew for each message. They, and not a counter, keep nonces from repeating, so
// that neither a crash, a copied virtual machine nor many processes with one key can make one
// repeat: even among 2^64 messages under one key the odds that any two share their nonce are
// one in 2^65. No message needs counting, and no data key wears out.
//
// What is derived from a key comes from HKDF-SHA256 without a salt; the info says what for:
//
//	"holdfast seal 1: master id"  8 bytes, the ID of a master key
//	"holdfast seal 1: wrap"       32 bytes, what a master key of an older file wraps data keys with
//	"holdfast seal 2: wrap"       32 bytes, what an organization's secret wraps its data keys with
//	"holdfast seal 2: branches"   32 bytes, what a line's key seals its tree with
//	"holdfast seal 1: seal"       32 bytes, what a data key seals with
//	"holdfast seal 1: sum"        32 bytes, the key of Sum, from data key 1
//	"holdfast seal 1: tag"        32 bytes, the key of a hidden digest's tag, from data key 1
//	"holdfast seal 1: mask"       32 bytes, the key of its mask, from data key 1
//
// # What is sealed
//
//	4 bytes   "HFS" and a zero byte
//	1 byte    the format, 1
//	8 bytes   the data key's ID, random
//	24 bytes  the nonce
//	the rest  the ciphertext, as long as the plaintext, and the tag of 16 bytes
//
// The additional data is the first 13 bytes, as they are, followed by
//
//	16 bytes  the organization
//	1 byte    what it is: 1 for all of a thing, 2 for a piece of one
//	8 bytes   the piece's number, from 0; 0 for all of a thing
//	4 bytes   the length of the kind, then the kind
//	4 bytes   the length of the name, then the name
//
// A piece's plaintext begins with 16 random bytes, the same in all pieces of one sealing, and
// one byte that is 1 in the last piece and 0 in the others. At most 1 MiB of content follows.
// Pieces before the last one have content.
//
// # A wrapped data key
//
//	4 bytes   "HFK" and a zero byte
//	1 byte    the format: 1 by a key of an older file, else 2
//	8 bytes   the master key's ID
//	24 bytes  the nonce
//	48 bytes  the encrypted data key, with the tag
//
// The additional data is the first 13 bytes, the organization (16 bytes), the data key's
// number (4 bytes) and its ID (8 bytes). All numbers are big-endian.
//
// # The master file
//
//	# any comment
//	holdfast-master-key 3
//	<a key, 64 hexadecimal digits> <8 digits, the beginning of the SHA-256 of the key and the tree> <the tree, sealed>
//
// Files of the format 1 have lines without a tree, and those of the format 2 may have the service and what it
// wrapped the key to in the place of the digits, as those of the format 3 may.
//
// Each further line is another key; the newest comes first. A file that other accounts may
// read is refused, and so is one with anything in it that is not understood.
//
// # Sums
//
// Sum is HMAC-SHA256 over the kind and each of the data, every one of them preceded by its
// length in 8 bytes. It never changes for an organization: data key 1 stays, rewrapped or not.
//
// # Hidden digests
//
//	32 bytes  the tag: HMAC-SHA256 over the kind, the scope and the digest, every one of them
//	          preceded by its length in 8 bytes
//	32 bytes  the digest, XOR the mask: HMAC-SHA256 over the tag, under another key
package seal
