package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/repos/forge"
)

// bucket answers as Bitbucket Cloud does.
func (f *Forge) bucket(w http.ResponseWriter, r *http.Request, path string) {
	if path == "/user" {
		answer(w, bucketUser(f.self()))
		return
	}
	if path == "/workspaces/acme/permissions/repositories/network" {
		f.bucketPermission(w, r)
		return
	}
	if hash, ok := strings.CutPrefix(path, "/repositories/"+Fork+"/commit/"); ok {
		f.bucketCommit(w, hash, true)
		return
	}
	rest, ok := strings.CutPrefix(path, "/repositories/"+Repository+"/")
	if !ok {
		f.refuse(w, http.StatusNotFound, "Repository not found")
		return
	}
	parts := strings.Split(rest, "/")
	switch {
	case rest == "pullrequests":
		bucketPage(f, w, r, shown(f.open(), bucketPull))
	case parts[0] == "commit" && len(parts) == 2:
		f.bucketCommit(w, parts[1], false)
	case parts[0] == "commit" && rest == "commit/"+parts[1]+"/statuses/build" && f.isOfFork(parts[1]):
		f.refuse(w, http.StatusNotFound, "Commit not found")
	case parts[0] == "commit" && rest == "commit/"+parts[1]+"/statuses/build":
		in := read[struct{ Key, State, Name, URL, Description string }](r)
		state := map[string]forge.StatusState{"INPROGRESS": forge.Pending, "SUCCESSFUL": forge.Success,
			"FAILED": forge.Failure}[in.State]
		if len(in.Key) > 40 || in.URL == "" || state == "" {
			f.refuse(w, http.StatusBadRequest, "Bad request")
			return
		}
		f.Statuses = append(f.Statuses, Status{parts[1], forge.Status{Context: in.Name, State: state,
			Description: in.Description, Link: in.URL}})
		w.WriteHeader(http.StatusCreated)
		answer(w, in)
	case parts[0] == "pullrequests" && f.Pulls[number(parts[1])] != nil:
		f.bucketPullRequest(w, r, f.Pulls[number(parts[1])], parts[2:])
	default:
		f.refuse(w, http.StatusNotFound, "Not found")
	}
}

func (f *Forge) bucketPermission(w http.ResponseWriter, r *http.Request) {
	var found []any
	for login, may := range f.Users {
		u := f.User(login)
		if r.URL.Query().Get("q") == `user.uuid="`+u.ID+`"` && may != forge.None {
			found = append(found, map[string]any{"permission": may.String(), "user": bucketUser(u)})
		}
	}
	bucketPage(f, w, r, found)
}

// bucketCommit shows a commit where it is: the head of a fork's pull request is in the fork alone.
func (f *Forge) bucketCommit(w http.ResponseWriter, hash string, fork bool) {
	for _, p := range f.Pulls {
		there := []string{p.Base, p.Merge}
		if fork == p.Fork {
			there = append(there, p.Head)
		}
		for _, whole := range there {
			if whole != "" && strings.HasPrefix(whole, hash) {
				answer(w, map[string]any{"hash": whole, "type": "commit"})
				return
			}
		}
	}
	f.refuse(w, http.StatusNotFound, "Commit not found")
}

// isOfFork reports whether a commit is in the fork alone, so that nothing can be said of it elsewhere.
func (f *Forge) isOfFork(commit string) bool {
	for _, p := range f.Pulls {
		if p.Fork && p.Head == commit {
			return true
		}
	}
	return false
}

type content struct {
	Content struct {
		Raw string `json:"raw"`
	} `json:"content"`
}

func (f *Forge) bucketPullRequest(w http.ResponseWriter, r *http.Request, p *Pull, parts []string) {
	switch {
	case len(parts) == 0:
		answer(w, bucketPull(p))
	case parts[0] == "diffstat":
		bucketPage(f, w, r, shown(p.Files, func(path string) any {
			name, previous, moved := strings.Cut(path, " <- ")
			if !moved {
				previous = name
			}
			return map[string]any{"new": map[string]any{"path": name}, "old": map[string]any{"path": previous}}
		}))
	case parts[0] == "comments" && len(parts) == 2:
		if c, ok := f.change(w, r, parts[1], read[content](r).Content.Raw); ok {
			answer(w, bucketComment(c))
		}
	case parts[0] == "comments" && r.Method == http.MethodPost:
		c := f.Comment(p.Number, f.self(), read[content](r).Content.Raw)
		w.WriteHeader(http.StatusCreated)
		answer(w, bucketComment(*c))
	case parts[0] == "comments":
		bucketPage(f, w, r, shown(p.Comments, bucketComment))
	}
}

func bucketPage(f *Forge, w http.ResponseWriter, r *http.Request, all []any) {
	part, at, more := page(f, r, all)
	if part == nil {
		part = []any{}
	}
	list := map[string]any{"values": part, "page": at}
	if more {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(at+1))
		list["next"] = fmt.Sprintf("http://%s%s?%s", r.Host, r.URL.EscapedPath(), q.Encode())
	}
	answer(w, list)
}

func bucketUser(u forge.User) any {
	return map[string]any{"uuid": u.ID, "nickname": u.Login, "type": "user"}
}

func bucketComment(c forge.Comment) any {
	created, updated := times(c)
	return map[string]any{"id": number(c.ID), "content": map[string]any{"raw": c.Body, "markup": "markdown"},
		"user": bucketUser(c.Author), "deleted": false, "created_on": created, "updated_on": updated}
}

func bucketPull(p *Pull) any {
	from := map[string]any{"uuid": "{1}", "full_name": Repository}
	if p.Fork {
		from = map[string]any{"uuid": "{2}", "full_name": Fork}
	}
	state := map[forge.State]string{forge.Open: "OPEN", forge.Merged: "MERGED", forge.Closed: "DECLINED"}[p.State]
	shown := map[string]any{"id": p.Number, "title": p.Title, "state": state, "draft": p.Draft,
		"author": bucketUser(p.Author), "links": map[string]any{"html": map[string]any{"href": p.Link}},
		"source": map[string]any{"branch": map[string]any{"name": p.HeadRef},
			"commit": map[string]any{"hash": p.Head[:12]}, "repository": from},
		"destination": map[string]any{"branch": map[string]any{"name": p.BaseRef},
			"commit": map[string]any{"hash": p.Base[:12]}, "repository": map[string]any{"uuid": "{1}"}}}
	if p.Merge != "" {
		shown["merge_commit"] = map[string]any{"hash": p.Merge[:12]}
	}
	return shown
}
