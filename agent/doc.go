// Package agent executes runs: on a machine of its own as `holdfast agent`, or within the server.
//
// An Executor claims stages of runs from a Server and carries each out in a folder of its own,
// phase by phase. It has no authority: it holds a lease, renews it, and stops when the server
// says that the run is not its own any more. Whatever it must know to go on after it died is in
// the run's folder, short of secrets: those come again with the answer to the same claim.
//
// The tool's commands run under Commands, which outlives the executor: an executor that begins
// anew adopts them. What they print goes to files; the executor copies it from there to the
// server, so that an unreachable server neither blocks a command nor loses a line.
package agent
