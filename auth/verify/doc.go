// Package verify checks credentials against the keyring in force.
//
// A key is checked in four files, besides package middleware's auth.go, which takes it out
// of the request; they are read in the order in which a check goes through them:
//
//   - verifier.go is the check itself, from Verify down to bcrypt;
//   - cache.go remembers what earlier checks found, good and wrong, and lets callers with
//     the same key share one check;
//   - failures.go limits how many wrong keys an address and an organization may have;
//   - queue.go decides whose bcrypt runs next.
//
// # Why a check takes this way
//
// A bcrypt takes about 50 ms of a core, and anybody can ask for one with any text. So the
// check does as little work as the caller's past allows:
//
//  1. A key that was found good a short time ago, in this keyring, is good.
//  2. A key that was ever found good is compared with its own hash only, whatever failures
//     are on record: an attack from the same address must not lock it out.
//  3. Credentials that were found wrong in this keyring are wrong, without a bcrypt.
//  4. Anybody else needs an admission (failures.go) and is compared with every hash of the
//     organization. An organization that does not exist costs as much as one that does.
//
// # The queue
//
// At most half of the cores run bcrypts. Whoever finds none free waits in the queue of its
// rank; a rank says how likely it is that the caller is honest:
//
//   - familiar: its key was found good before;
//   - stranger: it is the only one from its address, and no failure is on record there;
//   - suspect: everybody else.
//
// Of each four turns familiar gets two, and stranger and suspect one each; a turn that the
// rank does not need goes to the first rank that has somebody. So a flood in one rank
// delays the others and never keeps them out.
//
// Within a rank everybody stands in two round robins, one over organizations and one over
// clients, which are served alternately; a turn in one counts as a turn in the other. So
// the first of a client's waiters waits for at most two checks for each other client with
// somebody waiting, and one more, beyond those that are running; the same holds for
// organizations. However many checks a flood asks for, it costs others the fewer of its
// clients and its organizations.
//
// The number of waiters is bounded. At a bound the longest list of waiters loses its last
// one to a newcomer with a shorter list. So a caller of whose client nobody else waits is
// rejected only by a flood from many networks: at least queueLimits.org other clients with
// one check each wait for its organization then, or queueLimits.total in all. A caller
// behind the same address as a flood shares the flood's list, and may be rejected in its
// stead.
package verify
