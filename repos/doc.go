// Package repos keeps the repositories that configurations come from: where they are, what they are fetched with, and
// what is known of them. It has the shape of the other domains: types, rules without effects, a Service as the
// only door, and a Store's contract in words.
//
// # Who fetches
//
// Each process has mirrors of its own below its data folder (package gitmirror), which are caches: any may be thrown
// away. Nobody has the authority to fetch. A repository whose time has come is claimed in the store, by one statement,
// so that one process looks whether there is something new; what it has found stands in the store, and another
// process fetches a commit when somebody asks it for that. In one process there is one fetch of a repository at a time:
// who asks while one goes on shares the next one with all others who do.
//
// # What others build on it
//
//	service.OnMoved(func(ctx, repos.Moved) { … })       // branches have other commits: look for yourself
//	service.OnEvent(func(ctx, repos.Event) error { … }) // pull requests and comments, each at least once
//	m, err := service.At(ctx, org, name, commit)        // a mirror that has the commit
//	err = service.Snapshot(ctx, org, name, commit, a, w) // files of a commit as a tar.gz
//	credential, err := service.Credential(ctx, org, name) // for who speaks to the provider
//
// Hints may come late, twice or not at all. What is true stands in Repository.Status.
package repos
