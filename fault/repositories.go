package fault

// The codes of repositories and of what their servers tell.
const (
	RepositoryNotFound Code = "repository_not_found"
	RepositoryExists   Code = "repository_exists"
	RepositoryInvalid  Code = "repository_invalid"
	RepositoriesFull   Code = "repositories_full"
	RepositoryFailed   Code = "repository_failed"
	CommitNotFound     Code = "commit_not_found"
	WebhookRefused     Code = "webhook_refused"
	WebhookInvalid     Code = "webhook_invalid"
	WebhooksFull       Code = "webhooks_full"
)

func repositoryEntries() []Entry {
	return []Entry{
		{RepositoryInvalid, Invalid,
			"A repository's URL, branch, credential or other setting makes no sense; the message says which. Nothing was " +
				"stored."},
		{RepositoryNotFound, NotFound, "There is no repository of this name in your organization."},
		{RepositoryExists, Conflict, "There is a repository of this name already."},
		{RepositoriesFull, Conflict, "The organization has as many repositories as it may have. Remove one first."},
		{RepositoryFailed, Conflict,
			"The repository could not be fetched or read; the message says why. What was fetched before stays."},
		{CommitNotFound, NotFound, "The repository has no such commit, branch or folder, or it was not fetched yet."},
		{WebhookRefused, Forbidden,
			"The delivery is not signed with the repository's webhook secret. Nothing was done."},
		{WebhookInvalid, Invalid, "The delivery can't be read, has no ID, or is too old. Nothing was done."},
		{WebhooksFull, TooMany,
			"The repository got more deliveries than are remembered. Nothing was done; fetching goes " +
				"on by itself."},
	}
}
