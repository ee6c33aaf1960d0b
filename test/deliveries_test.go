//go:build e2e

package test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/repos/forge"
)

type object = map[string]any

// deliver sends what the forge tells, in its words and signed as it signs, and wants it accepted.
func (h *hosted) deliver(event string, body object) {
	h.Helper()
	raw, err := json.Marshal(body)
	h.must(err)
	request, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.server.url+h.webhook,
		strings.NewReader(string(raw)))
	h.must(err)
	sum := hmac.New(sha256.New, []byte(h.secret))
	sum.Write(raw)
	signature := hex.EncodeToString(sum.Sum(nil))
	headers := map[forge.Provider]map[string]string{
		forge.GitHub: {"X-GitHub-Event": event, "X-GitHub-Delivery": uuid.NewString(),
			"X-Hub-Signature-256": "sha256=" + signature},
		forge.GitLab: {"X-Gitlab-Event": event, "X-Gitlab-Event-UUID": uuid.NewString(), "X-Gitlab-Token": h.secret},
		forge.Gitea: {"X-Gitea-Event": event, "X-Gitea-Delivery": uuid.NewString(), "X-Gitea-Signature": signature,
			"X-GitHub-Event": event},
		forge.Bitbucket: {"X-Event-Key": event, "X-Request-UUID": uuid.NewString(), "X-Hub-Signature": "sha256=" + signature},
	}[h.forge.Provider]
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	h.must(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		h.Fatalf("a delivery of %s was answered %s", event, answer.Status)
	}
}

func (h *hosted) user(login string) object {
	u := h.forge.User(login)
	id, _ := strconv.Atoi(u.ID)
	return object{"id": id, "login": login, "username": login, "name": login}
}

// deliverPull tells how a pull request is now.
func (h *hosted) deliverPull(number int64) {
	h.Helper()
	var p forge.PullRequest
	h.forge.Do(func() { p = h.forge.Pulls[number].PullRequest })
	now := time.Now().UTC().Format(time.RFC3339Nano)
	from := 1
	if p.Fork {
		from = 2
	}
	if h.forge.Provider == forge.GitLab {
		action := map[forge.State]string{forge.Open: "open", forge.Merged: "merge"}[p.State]
		h.deliver("Merge Request Hook", object{"object_kind": "merge_request", "event_type": "merge_request",
			"user": h.user("bob"), "project": object{"id": 1, "path_with_namespace": "acme/network"},
			"object_attributes": object{"id": 100 + number, "iid": number, "title": p.Title, "action": action,
				"source_branch": p.HeadRef, "target_branch": p.BaseRef, "source_project_id": from, "target_project_id": 1,
				"author_id": 12, "updated_at": now, "last_commit": object{"id": p.Head}}})
		return
	}
	if h.forge.Provider == forge.Bitbucket {
		event := map[forge.State]string{forge.Open: "pullrequest:created", forge.Merged: "pullrequest:fulfilled"}[p.State]
		h.deliver(event, h.bucketBody(number))
		return
	}
	action := map[forge.State]string{forge.Open: "opened", forge.Merged: "closed"}[p.State]
	h.deliver("pull_request", object{"action": action, "number": number, "sender": h.user("bob"),
		"repository": object{"id": 1, "full_name": "acme/network"},
		"pull_request": object{"number": number, "title": p.Title, "user": h.user("bob"), "updated_at": now,
			"merged": p.State == forge.Merged, "head": object{"ref": p.HeadRef, "sha": p.Head, "repo": object{"id": from}},
			"base": object{"ref": p.BaseRef, "sha": p.Base, "repo": object{"id": 1}}}})
}

// deliverComment tells of a comment.
func (h *hosted) deliverComment(number int64, login, text string) {
	h.Helper()
	now := time.Now().UTC().Format(time.RFC3339Nano)
	if h.forge.Provider == forge.GitLab {
		h.deliver("Note Hook", object{"object_kind": "note", "user": h.user(login),
			"object_attributes": object{"id": time.Now().UnixNano(), "note": text, "noteable_type": "MergeRequest",
				"action": "create", "created_at": now},
			"merge_request": object{"iid": number, "source_project_id": 1, "target_project_id": 1}})
		return
	}
	if h.forge.Provider == forge.Bitbucket {
		body := h.bucketBody(number)
		body["comment"] = object{"id": time.Now().UnixNano(), "content": object{"raw": text}, "created_on": now,
			"user": object{"uuid": h.forge.User(login).ID, "nickname": login}}
		h.deliver("pullrequest:comment_created", body)
		return
	}
	h.deliver("issue_comment", object{"action": "created", "sender": h.user(login),
		"issue":   object{"number": number, "user": h.user("bob"), "pull_request": object{"url": "https://forge.example"}},
		"comment": object{"id": time.Now().UnixNano(), "body": text, "user": h.user(login), "created_at": now}})
}

// bucketBody is what Bitbucket tells of a pull request.
func (h *hosted) bucketBody(number int64) object {
	var p forge.PullRequest
	h.forge.Do(func() { p = h.forge.Pulls[number].PullRequest })
	from := "{1}"
	if p.Fork {
		from = "{2}"
	}
	end := func(ref, commit, repository string) object {
		return object{"branch": object{"name": ref}, "commit": object{"hash": commit[:12]},
			"repository": object{"uuid": repository}}
	}
	return object{"actor": object{"uuid": "12", "nickname": "bob"}, "pullrequest": object{"id": number, "title": p.Title,
		"author": object{"uuid": "12", "nickname": "bob"}, "updated_on": time.Now().UTC().Format(time.RFC3339Nano),
		"source": end(p.HeadRef, p.Head, from), "destination": end(p.BaseRef, p.Base, "{1}")}}
}

// deliverPush tells of a push to main.
func (h *hosted) deliverPush(commit string) {
	h.Helper()
	event := "push"
	if h.forge.Provider == forge.GitLab {
		event = "Push Hook"
	}
	h.deliver(event, object{"object_kind": "push", "ref": "refs/heads/main", "before": strings.Repeat("0", 40),
		"after": commit, "checkout_sha": commit, "commits": []any{}})
}
