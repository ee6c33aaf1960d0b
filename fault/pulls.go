package fault

// The codes of pull requests.
const (
	PullNotFound Code = "pull_not_found"
	PullsOff     Code = "pulls_off"
	PullMoved    Code = "pull_moved"
)

func pullEntries() []Entry {
	return []Entry{
		{PullNotFound, NotFound,
			"No such pull request is known: there is none, or its repository has told nothing of it since pull requests are " +
				"planned."},
		{PullsOff, Conflict,
			"The pull requests of the repository are left alone. Its settings of pull requests can change that."},
		{PullMoved, Conflict,
			"The pull request is over, or at another commit than the one that was named. Nothing was done; look at it as it " +
				"is now."},
	}
}
