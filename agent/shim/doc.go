// Package shim runs one command of a run so that it outlives whoever started it.
//
// A shim is a process of our own binary in a session of its own. It starts the command inside
// the sandbox, copies its output into files, and writes down how it ended. Nothing of it
// depends on the server or agent that started it: that one may be stopped, killed or upgraded
// meanwhile, and finds the shim again by its folder.
//
// The folder says what is known, and each step is on disk before the next one begins:
//
//	lock                     held by the shim while it lives, whatever its number is
//	shim.json                who the shim is
//	command.json             who the command is; written before the command is let go, so that
//	                         a command without it never ran
//	log, stdout              what the command wrote
//	interrupt.*, kill.*      what was asked of the shim and what was done; the name changes by
//	                         renaming, which happens once, whoever tries
//	exit.json                how it ended
//
// The command's output goes through a named pipe that the command itself holds open at both
// ends. So a shim that is killed takes neither the command with it nor what is written after:
// the command goes on, waits when the pipe is full, and a new shim adopts it (see Adopt). Only
// its exit code is lost then, because the system tells it to the parent alone.
package shim
