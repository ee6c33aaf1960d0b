// Package quota bounds what an organization puts on the disk, so that none of them can fill
// it for the others.
//
// What an organization has is the sum over several sources: states with their history,
// uploads. Each is counted by the store that keeps it, in the transaction that changes it.
// Before something is stored, a service asks the Keeper for a Room; the store then asks the
// Room, inside of that transaction, whether there is enough. So writes that run at the same
// time can't go beyond a bound together within one source, and of two sources by no more
// than what each is storing at that moment.
//
// The last part of the disk, the reserve, is for what has begun: who holds a state's lock
// may go on there, and a little beyond its organization's quota, so that an apply can record
// what it made. What makes room is never refused.
package quota
