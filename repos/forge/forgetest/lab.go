package forgetest

import (
	"net/http"
	"strings"

	"github.com/holdfast/holdfast/repos/forge"
)

// lab answers as GitLab does.
func (f *Forge) lab(w http.ResponseWriter, r *http.Request, path string) {
	if path == "/user" {
		answer(w, labUser(f.As))
		return
	}
	rest, ok := strings.CutPrefix(path, "/projects/"+strings.ReplaceAll(Repository, "/", "%2F")+"/")
	if !ok {
		f.refuse(w, http.StatusNotFound, "404 Project Not Found")
		return
	}
	parts := strings.Split(rest, "/")
	switch {
	case rest == "merge_requests":
		all, at, more := page(f, r, f.open())
		link(w, r, at, more)
		answer(w, shown(all, labMerge))
	case parts[0] == "statuses" && r.Method == http.MethodPost:
		f.labStatus(w, r, parts[1])
	case parts[0] == "members" && len(parts) == 3:
		f.labMember(w, parts[2])
	case parts[0] == "merge_requests" && f.Pulls[number(parts[1])] != nil:
		f.labMergeRequest(w, r, f.Pulls[number(parts[1])], parts[2:])
	default:
		f.refuse(w, http.StatusNotFound, "404 Not found")
	}
}

func (f *Forge) labStatus(w http.ResponseWriter, r *http.Request, commit string) {
	in := read[struct {
		State, Name, Description string
		Link                     string `json:"target_url"`
	}](r)
	state, ok := map[string]forge.StatusState{"running": forge.Pending, "success": forge.Success,
		"failed": forge.Failure}[in.State]
	if !ok {
		f.refuse(w, http.StatusBadRequest, "state does not have a valid value")
		return
	}
	for _, s := range f.Statuses {
		if s.Commit == commit && s.Context == in.Name && s.State == state && state == forge.Pending {
			f.refuse(w, http.StatusBadRequest, "Cannot transition status via :run from :running (Reason(s): ...)")
			return
		}
	}
	f.Statuses = append(f.Statuses, Status{commit, forge.Status{Context: in.Name, State: state,
		Description: in.Description, Link: in.Link}})
	w.WriteHeader(http.StatusCreated)
	answer(w, in)
}

func (f *Forge) labMember(w http.ResponseWriter, id string) {
	for login, may := range f.Users {
		if f.IDs[login] == id && may != forge.None {
			level := map[forge.Permission]int{forge.Read: 20, forge.Write: 30, forge.Admin: 40}[may]
			answer(w, map[string]any{"id": number(id), "username": login, "state": "active", "access_level": level})
			return
		}
	}
	f.refuse(w, http.StatusNotFound, "404 Not found")
}

func (f *Forge) labMergeRequest(w http.ResponseWriter, r *http.Request, p *Pull, parts []string) {
	switch {
	case len(parts) == 0:
		answer(w, labMerge(p))
	case parts[0] == "diffs":
		all, at, more := page(f, r, p.Files)
		link(w, r, at, more)
		answer(w, shown(all, func(path string) any {
			name, previous, moved := strings.Cut(path, " <- ")
			if !moved {
				previous = name
			}
			return map[string]any{"new_path": name, "old_path": previous, "renamed_file": moved}
		}))
	case parts[0] == "notes" && len(parts) == 2:
		if c, ok := f.change(w, r, parts[1], read[body](r).Body); ok {
			answer(w, labNote(c))
		}
	case parts[0] == "notes" && r.Method == http.MethodPost:
		c := f.Comment(p.Number, f.self(), read[body](r).Body)
		w.WriteHeader(http.StatusCreated)
		answer(w, labNote(*c))
	case parts[0] == "notes":
		newest := make([]forge.Comment, 0, len(p.Comments))
		for i := len(p.Comments) - 1; i >= 0; i-- {
			newest = append(newest, p.Comments[i])
		}
		all, at, more := page(f, r, newest)
		link(w, r, at, more)
		answer(w, shown(all, labNote))
	}
}

func labUser(u forge.User) any { return map[string]any{"id": number(u.ID), "username": u.Login} }

func labNote(c forge.Comment) any {
	created, updated := times(c)
	return map[string]any{"id": number(c.ID), "body": c.Body, "author": labUser(c.Author), "system": false,
		"created_at": created, "updated_at": updated}
}

func labMerge(p *Pull) any {
	source := 1
	if p.Fork {
		source = 2
	}
	state := map[forge.State]string{forge.Open: "opened", forge.Merged: "merged", forge.Closed: "closed"}[p.State]
	return map[string]any{"iid": p.Number, "title": p.Title, "web_url": p.Link, "state": state, "draft": p.Draft,
		"author": labUser(p.Author), "sha": p.Head, "source_branch": p.HeadRef, "target_branch": p.BaseRef,
		"source_project_id": source, "target_project_id": 1, "merge_commit_sha": p.Merge,
		"diff_refs": map[string]any{"base_sha": p.Base, "head_sha": p.Head, "start_sha": p.Base}}
}
