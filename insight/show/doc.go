// Package show writes insights for those who read them: people in a terminal, comments on pull
// requests, and programs that understand SARIF or JUnit. Names of resources are whatever somebody
// wrote: none of them can move a cursor, end a comment or make a link.
package show
