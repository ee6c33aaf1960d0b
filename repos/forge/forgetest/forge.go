package forgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/repos/forge"
)

// Token is what a forge wants in each request.
const Token = "token-of-the-test"

// Repository is the path of the one repository.
const Repository = "acme/network"

// Fork is the path of the one that forks are in.
const Fork = "eve/network"

// Bot is whose Token it is.
func Bot() forge.User { return forge.User{ID: "900", Login: "holdfast-bot"} }

// Forge is what there is at a forge. Change it with Do.
type Forge struct {
	URL      string // of the API
	Provider forge.Provider

	mu       sync.Mutex
	Pulls    map[int64]*Pull
	Users    map[string]forge.Permission // by login
	IDs      map[string]string           // of users, by login
	Statuses []Status
	PageSize int
	// Answer, unless nil, answers in the place of the forge when it returns true.
	Answer func(w http.ResponseWriter, r *http.Request) bool
	// Calls are the requests that came: method and path.
	Calls []string
	// As is whose Token it is; the zero one may not be asked for.
	As       forge.User
	comments int64
	now      time.Time
}

// Pull is a pull request at a forge.
type Pull struct {
	forge.PullRequest
	Files    []string
	Comments []forge.Comment
}

// Status is one of a commit.
type Status struct {
	Commit string
	forge.Status
}

// New starts a forge with one open pull request, number 7.
func New(t testing.TB, provider forge.Provider) *Forge {
	f := &Forge{Provider: provider, Pulls: map[int64]*Pull{}, Users: map[string]forge.Permission{},
		IDs: map[string]string{}, PageSize: 100, As: Bot(), now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	f.Person("ana", "11", forge.Admin)
	f.Person("bob", "12", forge.Write)
	f.Person("eve", "13", forge.None)
	f.Pulls[7] = &Pull{PullRequest: forge.PullRequest{
		Number: 7, Title: "Open 443", Link: "https://forge.example/acme/network/pull/7", Author: f.User("bob"),
		State: forge.Open, Head: strings.Repeat("a1", 20), HeadRef: "open-443", Base: strings.Repeat("b2", 20),
		BaseRef: "main",
	}, Files: []string{"envs/prod/main.tf"}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL + map[forge.Provider]string{forge.GitHub: "/api/v3", forge.GitLab: "/api/v4",
		forge.Gitea: "/api/v1", forge.Forgejo: "/api/v1", forge.Bitbucket: "/2.0"}[provider]
	return f
}

// Do changes or reads what there is, while no request is answered.
func (f *Forge) Do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// Person makes somebody known.
func (f *Forge) Person(login, id string, may forge.Permission) {
	f.Users[login], f.IDs[login] = may, id
}

// User is somebody, as the forge shows them.
func (f *Forge) User(login string) forge.User {
	if f.Provider == forge.Bitbucket {
		return forge.User{ID: "{" + f.IDs[login] + "}", Login: login}
	}
	return forge.User{ID: f.IDs[login], Login: login}
}

// Comment writes a comment as somebody does, within Do.
func (f *Forge) Comment(number int64, by forge.User, body string) *forge.Comment {
	f.comments++
	f.now = f.now.Add(time.Minute)
	p := f.Pulls[number]
	p.Comments = append(p.Comments, forge.Comment{ID: strconv.FormatInt(f.comments, 10), Author: by, Body: body,
		Created: f.now})
	return &p.Comments[len(p.Comments)-1]
}

// Open returns the repository, as the product sees it.
func (f *Forge) Open(t *testing.T) forge.Forge {
	t.Helper()
	opened, err := forge.New(forge.Config{Provider: f.Provider, API: f.URL, Repository: Repository, Token: Token,
		Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// ServeHTTP answers as the provider does.
func (f *Forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Calls = append(f.Calls, r.Method+" "+r.URL.EscapedPath())
	if f.Answer != nil && f.Answer(w, r) {
		return
	}
	if !f.signed(r) {
		f.refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	path := r.URL.EscapedPath()
	for _, prefix := range []string{"/api/v3", "/api/v4", "/api/v1", "/2.0"} {
		path = strings.TrimPrefix(path, prefix)
	}
	switch f.Provider {
	case forge.GitLab:
		f.lab(w, r, path)
	case forge.Bitbucket:
		f.bucket(w, r, path)
	default:
		f.hub(w, r, path)
	}
}

func (f *Forge) signed(r *http.Request) bool {
	switch f.Provider {
	case forge.GitLab:
		return r.Header.Get("Private-Token") == Token
	case forge.Gitea, forge.Forgejo:
		return r.Header.Get("Authorization") == "token "+Token
	}
	return r.Header.Get("Authorization") == "Bearer "+Token
}

func (f *Forge) refuse(w http.ResponseWriter, code int, message string) {
	w.WriteHeader(code)
	switch f.Provider {
	case forge.Bitbucket:
		answer(w, map[string]any{"type": "error", "error": map[string]any{"message": message}})
	default:
		answer(w, map[string]any{"message": message})
	}
}

func answer(w http.ResponseWriter, what any) { _ = json.NewEncoder(w).Encode(what) }

func read[T any](r *http.Request) (in T) {
	_ = json.NewDecoder(r.Body).Decode(&in)
	return in
}

// page cuts a list as the query wants it, and says whether there is more.
func page[T any](f *Forge, r *http.Request, all []T) (part []T, at int, more bool) {
	at, _ = strconv.Atoi(r.URL.Query().Get("page"))
	at = max(at, 1)
	begin := min((at-1)*f.PageSize, len(all))
	end := min(begin+f.PageSize, len(all))
	return all[begin:end], at, end < len(all)
}

// link says where the next page is, as three of the providers do.
func link(w http.ResponseWriter, r *http.Request, at int, more bool) {
	if !more {
		return
	}
	q := r.URL.Query()
	q.Set("page", strconv.Itoa(at+1))
	w.Header().Add("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next", <http://%s/last>; rel="last"`, r.Host,
		r.URL.EscapedPath(), q.Encode(), r.Host))
	w.Header().Set("X-Next-Page", strconv.Itoa(at+1))
}

// find returns a comment, wherever it is.
func (f *Forge) find(id string) (*Pull, int) {
	for _, p := range f.Pulls {
		if i := slices.IndexFunc(p.Comments, func(c forge.Comment) bool { return c.ID == id }); i >= 0 {
			return p, i
		}
	}
	return nil, 0
}

// change carries out what is asked of a comment. It reports whether there is one that the caller may change.
func (f *Forge) change(w http.ResponseWriter, r *http.Request, id, body string) (c forge.Comment, ok bool) {
	p, i := f.find(id)
	switch {
	case p == nil:
		f.refuse(w, http.StatusNotFound, "Not Found")
		return c, false
	case !p.Comments[i].Author.Is(f.self()):
		f.refuse(w, http.StatusForbidden, "Must have admin rights to Repository.")
		return c, false
	case r.Method == http.MethodDelete:
		p.Comments = slices.Delete(p.Comments, i, i+1)
		w.WriteHeader(http.StatusNoContent)
		return c, false
	}
	p.Comments[i].Body, p.Comments[i].Edited = body, true
	return p.Comments[i], true
}

func (f *Forge) self() forge.User {
	if f.Provider == forge.Bitbucket {
		return forge.User{ID: "{" + Bot().ID + "}", Login: Bot().Login}
	}
	return Bot()
}

// open are the pull requests that are.
func (f *Forge) open() (all []*Pull) {
	for _, p := range f.Pulls {
		if p.State == forge.Open {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Pull) int { return int(b.Number - a.Number) })
	return all
}

func shown[T any](all []T, one func(T) any) []any {
	list := make([]any, len(all))
	for i, v := range all {
		list[i] = one(v)
	}
	return list
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// times are when a comment was made and last changed.
func times(c forge.Comment) (created, updated string) {
	last := c.Created
	if c.Edited {
		last = last.Add(time.Hour)
	}
	return c.Created.Format(time.RFC3339), last.Format(time.RFC3339)
}
