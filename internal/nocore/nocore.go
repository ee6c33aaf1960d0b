// Package nocore keeps what is in a process's memory, which is keys and states, out of core dumps, and away from other
// processes of its user.
package nocore

// Limit is the limit of core dumps: too small for any file, and not 0. To a program that cores are piped to, Linux
// sends them whatever the limit is, unless it is 1.
const Limit = 1
