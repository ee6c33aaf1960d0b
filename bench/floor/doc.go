// Package floor has the handlers that a server is compared with: as little as can be done
// for an answer. Each ratio to a floor says how much of the machine a server leaves unused
// that does more.
//
// They are honest where they are quick: what they promise to have on disk is fsynced before
// they answer, and bodies are read whole. They do without everything else: they know one
// tenant, keep one version, ask nobody for a key, limit nothing and log nothing.
package floor
