package hook_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/repos/hook"
)

const (
	head = "89abcdef0123456789abcdef0123456789abcdef"
	gone = "0000000000000000000000000000000000000000"
)

// TestParse reads what each provider sends, in the shapes that they document.
func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		provider hook.Provider
		header   string // "Name: value" of the event, and of the delivery
		body     string
		want     hook.Event
	}{
		"github push": {hook.GitHub, "X-GitHub-Event: push\nX-GitHub-Delivery: d1",
			`{"ref":"refs/heads/feature/x","before":"` + gone + `","after":"` + head + `","commits":[]}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"feature/x", head}}}},
		"github delete": {hook.GitHub, "X-GitHub-Event: push\nX-GitHub-Delivery: d1",
			`{"ref":"refs/heads/x","after":"` + gone + `","deleted":true}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"x", ""}}}},
		"github tag": {hook.GitHub, "X-GitHub-Event: push\nX-GitHub-Delivery: d1",
			`{"ref":"refs/tags/v1","after":"` + head + `"}`, hook.Event{}},
		"github ping": {hook.GitHub, "X-GitHub-Event: ping\nX-GitHub-Delivery: d1", `{"zen":"x","hook_id":1}`, hook.Event{}},
		"github pull": {hook.GitHub, "X-GitHub-Event: pull_request\nX-GitHub-Delivery: d1",
			`{"action":"synchronize","number":7,"pull_request":{"number":7,"title":"T","draft":true,"merged":false,
			"user":{"id":5,"login":"eve"},"head":{"ref":"x","sha":"` + head + `","repo":{"id":2}},"base":{"ref":"main","repo":{"id":1}},
			"updated_at":"2026-01-02T03:04:05Z"},"sender":{"id":5,"login":"eve"}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Updated, Number: 7, Title: "T", Draft: true, Head: head, HeadBranch: "x",
				BaseBranch: "main", Fork: true, Author: hook.User{"5", "eve"}, Sender: hook.User{"5", "eve"}, At: at()}},
		"github fork is gone": {hook.GitHub, "X-GitHub-Event: pull_request\nX-GitHub-Delivery: d1",
			`{"action":"closed","pull_request":{"number":7,"merged":true,"head":{"ref":"x","repo":null},"base":{"ref":"main","repo":{"id":1}}}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Merged, Number: 7, HeadBranch: "x", BaseBranch: "main", Fork: true}},
		"github label": {hook.GitHub, "X-GitHub-Event: pull_request\nX-GitHub-Delivery: d1",
			`{"action":"labeled","pull_request":{"number":7,"head":{"repo":{"id":1}},"base":{"repo":{"id":1}}}}`,
			hook.Event{Number: 7}},
		"github comment": {hook.GitHub, "X-GitHub-Event: issue_comment\nX-GitHub-Delivery: d1",
			`{"action":"created","issue":{"number":7,"title":"T","user":{"id":5,"login":"eve"},"pull_request":{"url":"x"}},
			"comment":{"id":99,"body":"holdfast plan","user":{"id":6,"login":"ada"},"created_at":"2026-01-02T03:04:05Z"}}`,
			hook.Event{Kind: hook.Comment, Action: hook.Created, Number: 7, Title: "T", Fork: true, CommentID: "99",
				Text: "holdfast plan", Author: hook.User{"5", "eve"}, Sender: hook.User{"6", "ada"}, At: at()}},
		"github edited comment": {hook.GitHub, "X-GitHub-Event: issue_comment\nX-GitHub-Delivery: d1",
			`{"action":"edited","issue":{"number":7,"pull_request":{}},"comment":{"id":99,"body":"holdfast apply"}}`, hook.Event{}},
		"github comment on an issue": {hook.GitHub, "X-GitHub-Event: issue_comment\nX-GitHub-Delivery: d1",
			`{"action":"created","issue":{"number":7},"comment":{"id":99,"body":"holdfast apply"}}`, hook.Event{}},
		"gitea pull": {hook.Gitea, "X-Gitea-Event: pull_request\nX-Gitea-Delivery: d1",
			`{"action":"synchronized","number":3,"pull_request":{"number":3,"head":{"ref":"x","sha":"` + head + `","repo":{"id":1}},
			"base":{"ref":"main","repo":{"id":1}}}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Updated, Number: 3, Head: head, HeadBranch: "x", BaseBranch: "main"}},
		"forgejo push": {hook.Forgejo, "X-Forgejo-Event: push\nX-Forgejo-Delivery: d1",
			`{"ref":"refs/heads/main","after":"` + head + `"}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}}}},
		"gitlab push": {hook.GitLab, "X-Gitlab-Event: Push Hook\nX-Gitlab-Event-UUID: d1",
			`{"object_kind":"push","ref":"refs/heads/main","after":"` + head + `","checkout_sha":"` + head + `"}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}}}},
		"gitlab request": {hook.GitLab, "X-Gitlab-Event: Merge Request Hook\nX-Gitlab-Event-UUID: d1",
			`{"object_kind":"merge_request","user":{"id":6,"username":"ada"},"object_attributes":{"id":1000,"iid":4,"title":"T",
			"action":"open","source_branch":"x","target_branch":"main","source_project_id":1,"target_project_id":1,"author_id":6,
			"updated_at":"2026-01-02 03:04:05 UTC","last_commit":{"id":"` + head + `"}}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Opened, Number: 4, Title: "T", Head: head, HeadBranch: "x",
				BaseBranch: "main",
				Author:     hook.User{ID: "6"}, Sender: hook.User{"6", "ada"}, At: at()}},
		"gitlab note": {hook.GitLab, "X-Gitlab-Event: Note Hook\nX-Gitlab-Event-UUID: d1",
			`{"object_kind":"note","user":{"id":6,"username":"ada"},"object_attributes":{"id":77,"note":"holdfast plan",
			"noteable_type":"MergeRequest","action":"create","created_at":"2026-01-02 03:04:05 +0000"},
			"merge_request":{"iid":4,"source_project_id":2,"target_project_id":1,"last_commit":{"id":"` + head + `"}}}`,
			hook.Event{Kind: hook.Comment, Action: hook.Created, Number: 4, Head: head, Fork: true, CommentID: "77",
				Text: "holdfast plan", Sender: hook.User{"6", "ada"}, At: at()}},
		"bitbucket push": {hook.Bitbucket, "X-Event-Key: repo:push\nX-Request-UUID: d1",
			`{"push":{"changes":[{"new":{"type":"branch","name":"main","target":{"hash":"` + head + `"}}},
			{"new":null,"old":{"type":"branch","name":"old"}},{"new":{"type":"tag","name":"v1","target":{"hash":"` + head + `"}}}]}}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}, {"old", ""}}}},
		"bitbucket pull": {hook.Bitbucket, "X-Event-Key: pullrequest:created\nX-Request-UUID: d1",
			`{"actor":{"uuid":"{u}","nickname":"ada"},"pullrequest":{"id":2,"title":"T","author":{"uuid":"{u}","nickname":"ada"},
			"source":{"branch":{"name":"x"},"commit":{"hash":"89abcdef0123"},"repository":{"uuid":"{a}"}},
			"destination":{"branch":{"name":"main"},"repository":{"uuid":"{a}"}},"updated_on":"2026-01-02T03:04:05Z"}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Opened, Number: 2, Title: "T", HeadBranch: "x",
				BaseBranch: "main",
				Author:     hook.User{"{u}", "ada"}, Sender: hook.User{"{u}", "ada"}, At: at()}},
		"data center": {hook.Bitbucket, "X-Event-Key: pr:from_ref_updated\nX-Request-Id: d1",
			`{"actor":{"id":6,"name":"ada"},"pullRequest":{"id":2,"title":"T","author":{"user":{"id":6,"name":"ada"}},
			"fromRef":{"displayId":"x","latestCommit":"` + head + `","repository":{"id":2}},"toRef":{"displayId":"main","repository":{"id":1}}}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Updated, Number: 2, Title: "T", Head: head, HeadBranch: "x",
				BaseBranch: "main",
				Fork:       true, Author: hook.User{"6", "ada"}, Sender: hook.User{"6", "ada"}}},
		"data center push": {hook.Bitbucket, "X-Event-Key: repo:refs_changed\nX-Request-Id: d1",
			`{"changes":[{"ref":{"id":"refs/heads/main","type":"BRANCH"},"toHash":"` + head + `","type":"UPDATE"}]}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}}}},
		"azure push": {hook.Azure, "", `{"id":"d1","eventType":"git.push","createdDate":"2026-01-02T03:04:05Z","resource":{
			"refUpdates":[{"name":"refs/heads/main","newObjectId":"` + head + `"}],"pushedBy":{"id":"u","uniqueName":"ada@example.com"}}}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}},
				Sender: hook.User{"u", "ada@example.com"}, At: at()}},
		"azure pull": {hook.Azure, "", `{"id":"d1","eventType":"git.pullrequest.updated","createdDate":"2026-01-02T03:04:05Z",
			"resource":{"pullRequestId":9,"status":"completed","title":"T","sourceRefName":"refs/heads/x","targetRefName":
			"refs/heads/main","lastMergeSourceCommit":{"commitId":"` + head + `"},"createdBy":{"id":"u","uniqueName":"ada"}}}`,
			hook.Event{Kind: hook.Pull, Action: hook.Merged, Number: 9, Title: "T", Head: head, HeadBranch: "x",
				BaseBranch: "main",
				Author:     hook.User{"u", "ada"}, At: at()}},
		"plain": {hook.Plain, "X-Holdfast-Delivery: d1", `{"branch":"main","commit":"` + head + `"}`,
			hook.Event{Kind: hook.Push, Branches: []hook.PushedBranch{{"main", head}}}},
		"plain without a body": {hook.Plain, "X-Holdfast-Delivery: d1", "", hook.Event{Kind: hook.Push}},
	} {
		got, err := hook.Parse(test.provider, headers(test.header).Get, []byte(test.body))
		test.want.Provider, test.want.Delivery = test.provider, "d1"
		got.At = got.At.UTC()
		if got.At.IsZero() {
			got.At = time.Time{}
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", name, got, err, test.want)
		}
	}
}

func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func headers(lines string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		h.Set(name, value)
	}
	return h
}

// TestBounds: what is too long is cut off, and what is no JSON is refused, whoever sends it.
func TestBounds(t *testing.T) {
	long := strings.Repeat("ü", 100_000)
	body := `{"action":"created","issue":{"number":7,"title":"` + long + `","pull_request":{}},"comment":{"id":1,"body":"` + long + `"}}`
	e, err := hook.Parse(hook.GitHub, headers("X-GitHub-Event: issue_comment").Get, []byte(body))
	if err != nil || len(e.Text) > hook.MaxText || len(e.Title) > 255 || !strings.HasPrefix(long, e.Text) {
		t.Errorf("%d, %d bytes, %v", len(e.Text), len(e.Title), err)
	}
	for _, p := range hook.Providers() {
		event := headers("X-GitHub-Event: push\nX-Gitea-Event: push\nX-Gitlab-Event: Push Hook\nX-Event-Key: repo:push").Get
		for _, body := range []string{"{", "[]", `"x"`, "null\x00", strings.Repeat("[", 100_000),
			`{"ref":5,"push":5,"resource":5,"branch":5}`} {
			if _, err := hook.Parse(p, event, []byte(body)); err == nil {
				t.Errorf("%s: %.20q is read", p, body)
			}
		}
	}
}

// GitHub, Gitea and Forgejo send forms as well; of others a form is named, instead of what is not read in it.
func TestParseForms(t *testing.T) {
	const body = "payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%2C%22after%22%3A%22" + head + "%22%7D"
	header := http.Header{}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	for provider, event := range map[hook.Provider]string{hook.GitHub: "X-GitHub-Event", hook.Gitea: "X-Gitea-Event",
		hook.Forgejo: "X-Forgejo-Event"} {
		header.Set(event, "push")
		got, err := hook.Parse(provider, header.Get, []byte(body))
		if err != nil || got.Kind != hook.Push || len(got.Branches) != 1 || got.Branches[0].Branch != "main" {
			t.Errorf("%s: %+v, %v", provider, got, err)
		}
		if _, err := hook.Parse(provider, header.Get, []byte("x=1")); err == nil || !strings.Contains(err.Error(), "payload") {
			t.Errorf("%s: %v", provider, err)
		}
	}
	_, err := hook.Parse(hook.GitLab, header.Get, []byte(body))
	if err == nil || !strings.Contains(err.Error(), "application/json") {
		t.Error(err)
	}
}
