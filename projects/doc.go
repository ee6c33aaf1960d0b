// Package projects is workspaces and their runs by the names and words that users of projects know: one project is
// one workspace with one state, its files are the workspace's newest configuration, and a run plans, or plans and
// applies that plan. It keeps nothing and decides nothing of its own: packages workspace and runs do, and ask for the
// caller's rights; here is what their answers are called.
package projects
