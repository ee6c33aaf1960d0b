// Package gitmirror keeps a bare mirror of somebody else's git repository, and reads commits out of it. It runs
// the git binary, and trusts neither the address it is given nor what comes from there.
//
// A Mirror is a cache: its folder can be thrown away at any moment, and the next Fetch makes it anew. Its methods
// are safe for concurrent use. Fetches of one mirror come one after the other, in several processes too; reading
// goes on meanwhile.
//
//	remote, err := gitmirror.ParseURL("https://git.example.com/infra.git", false)
//	m, err := gitmirror.Open(dir, gitmirror.Options{})
//	got, err := m.Fetch(ctx, gitmirror.Source{Remote: remote, Branches: []string{"main"}})
//	commit, err := m.Head(ctx, "main")
//	for c, err := range m.Log(ctx, gitmirror.Range{To: commit}) { … }      // commits with the paths they change
//	changes, more, err := m.Diff(ctx, from, to)                            // between two commits
//	tree, err := m.Tree(ctx, commit)                                       // every path of a commit
//	defer tree.Close()
//	text, err := tree.ReadFile(ctx, "envs/prod/main.tf", 1<<20)
//	files := tree.FS(ctx)                                                  // an fs.FS, for what wants one
//	err = m.Archive(ctx, commit, gitmirror.Archiving{Folders: []string{"envs/prod", "modules"}}, w)
//
// # What git may do
//
// Every git process gets an environment of its own, with nothing of the server's but PATH and the names of
// proxies. It reads no configuration of the system or of an account, runs no hook, asks nobody, knows no other
// protocols than https and ssh (and http where that is allowed), follows no redirect and no alternates of others,
// fetches no submodules by itself and no large files of LFS, and checks each object that it gets. Submodules that
// somebody wants are fetched by the same rules, each into a mirror of its own beside. It has a deadline, and limits
// for memory, for the sizes of files and for the whole mirror. Addresses of private networks are refused unless
// they are allowed; git is given the address that was looked at, so that a name can't lead elsewhere when git
// resolves it.
//
// Archives and files are made of the objects themselves, and not of a work tree or by git archive: so no
// attribute of the repository is ever looked at, and no filter or conversion can run.
//
// # Credentials
//
// A token goes to git through a pipe that only the credential helper of that one host reads, and a key through
// an SSH agent in this process, of which git's ssh sees a socket in a folder of its own. Neither is in an
// argument, an environment, a file, a URL or an error: arguments and environments can be read by others on the
// machine or end in dumps, and files outlive processes that are killed. What a process of the same account can do
// is use the agent while a fetch goes on, which doesn't give it the key.
package gitmirror
