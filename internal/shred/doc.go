// Package shred destroys everything that a server has of an organization which was removed with its
// data. That it is to be destroyed stands in the auth file, and so survives every crash; a Receipt
// says that it was done. What is destroyed, and in which order, its parts say.
package shred
