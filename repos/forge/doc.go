// Package forge talks to the servers that pull requests are on: GitHub, GitLab, Gitea, Forgejo and
// Bitbucket. It reads a pull request, its files and its comments, sets the status of a commit, keeps one
// comment up to date, and asks what somebody may do.
//
// Each provider has a file with its shapes. Whatever a forge answers is read with bounds, and nothing it
// says, and no error, has a credential in it. A forge that wants to be left alone for a while is: the
// error says until when, and whoever called decides to come again.
package forge
