// Package pulls plans what pull requests would change. Each pull request of a repository has a plan of
// each layer that it affects, a status of its commit for each, and one comment that is kept up to date.
//
// What is to be done follows from facts that are stored: the pull request as its forge showed it last,
// the plans that were begun, who has allowed what, and which comments were obeyed. A webhook is a hint
// to look again, and no more. rules.go and commands.go have the rules as pure functions; Service looks
// at the forge, makes the runs and writes down what it did before and behind each step, so that it may
// end anywhere and go on elsewhere.
//
// Who wrote a pull request is not trusted with more than they have. Nothing of a fork is executed before
// somebody with the right has said so, for exactly the commit that they saw; it gets no sensitive
// variables even then. A repository whose settings say nothing has its pull requests left alone.
// A plan of a pull request can't be applied but by a command in a comment, where the settings allow that, by
// somebody whom the forge lets do as much, and only while the pull request is at the commit that was planned.
package pulls
