package forgetest

import (
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/repos/forge"
)

// hub answers as GitHub, Gitea and Forgejo do.
func (f *Forge) hub(w http.ResponseWriter, r *http.Request, path string) {
	if path == "/user" {
		if f.As.ID == "" {
			f.refuse(w, http.StatusForbidden, "Resource not accessible by integration")
			return
		}
		answer(w, hubUser(f.As))
		return
	}
	rest, ok := strings.CutPrefix(path, "/repos/"+Repository+"/")
	if !ok {
		f.refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	parts := strings.Split(rest, "/")
	switch {
	case rest == "pulls":
		all, at, more := page(f, r, f.open())
		link(w, r, at, more)
		answer(w, shown(all, hubPull))
	case parts[0] == "pulls" && f.Pulls[number(parts[1])] != nil && len(parts) == 2:
		answer(w, hubPull(f.Pulls[number(parts[1])]))
	case parts[0] == "pulls" && f.Pulls[number(parts[1])] != nil && parts[2] == "files":
		all, at, more := page(f, r, f.Pulls[number(parts[1])].Files)
		link(w, r, at, more)
		answer(w, shown(all, hubFile))
	case parts[0] == "statuses" && r.Method == http.MethodPost:
		in := read[struct {
			State, Description, Context string
			Link                        string `json:"target_url"`
		}](r)
		if n := len([]rune(in.Description)); f.Provider == forge.GitHub && n > 140 {
			f.refuse(w, http.StatusUnprocessableEntity, "Validation Failed")
			return
		}
		f.Statuses = append(f.Statuses, Status{parts[1], forge.Status{Context: in.Context,
			State: forge.StatusState(in.State), Description: in.Description, Link: in.Link}})
		w.WriteHeader(http.StatusCreated)
		answer(w, in)
	case parts[0] == "issues" && parts[1] == "comments":
		if c, ok := f.change(w, r, parts[2], read[body](r).Body); ok {
			answer(w, hubComment(c))
		}
	case parts[0] == "issues" && f.Pulls[number(parts[1])] != nil:
		f.hubComments(w, r, number(parts[1]))
	case parts[0] == "collaborators":
		may, known := f.Users[parts[1]]
		if !known {
			f.refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		answer(w, map[string]any{"permission": may.String(), "user": hubUser(f.User(parts[1]))})
	default:
		f.refuse(w, http.StatusNotFound, "Not Found")
	}
}

type body struct {
	Body string `json:"body"`
}

func (f *Forge) hubComments(w http.ResponseWriter, r *http.Request, n int64) {
	if r.Method == http.MethodPost {
		text := read[body](r).Body
		if len(text) > 65536 {
			f.refuse(w, http.StatusUnprocessableEntity, "Validation Failed: body is too long (maximum is 65536 characters)")
			return
		}
		c := f.Comment(n, f.self(), text)
		w.WriteHeader(http.StatusCreated)
		answer(w, hubComment(*c))
		return
	}
	all := f.Pulls[n].Comments
	at, more := 1, false
	if f.Provider == forge.GitHub { // the others have no pages there
		all, at, more = page(f, r, all)
	}
	link(w, r, at, more)
	answer(w, shown(all, hubComment))
}

func hubUser(u forge.User) any {
	return map[string]any{"id": number(u.ID), "login": u.Login, "type": "User"}
}

func hubComment(c forge.Comment) any {
	created, updated := times(c)
	return map[string]any{"id": number(c.ID), "body": c.Body, "user": hubUser(c.Author), "created_at": created,
		"updated_at": updated}
}

func hubFile(path string) any {
	name, previous, moved := strings.Cut(path, " <- ")
	if moved {
		return map[string]any{"filename": name, "previous_filename": previous, "status": "renamed"}
	}
	return map[string]any{"filename": name, "status": "modified"}
}

func hubPull(p *Pull) any {
	from := any(map[string]any{"id": 1, "full_name": Repository})
	if p.Fork {
		from = map[string]any{"id": 2, "full_name": "eve/network"}
	}
	state, mergedAt := "open", any(nil)
	if p.State != forge.Open {
		state = "closed"
	}
	if p.State == forge.Merged {
		mergedAt = "2026-11-02T10:00:00Z"
	}
	return map[string]any{"number": p.Number, "title": p.Title, "html_url": p.Link, "state": state, "draft": p.Draft,
		"merged": p.State == forge.Merged, "merged_at": mergedAt, "merge_commit_sha": p.Merge, "user": hubUser(p.Author),
		"head": map[string]any{"ref": p.HeadRef, "sha": p.Head, "repo": from},
		"base": map[string]any{"ref": p.BaseRef, "sha": p.Base, "repo": map[string]any{"id": 1, "full_name": Repository}}}
}
