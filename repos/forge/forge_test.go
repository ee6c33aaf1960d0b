package forge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/certs/certstest"
	"github.com/holdfast/holdfast/repos/forge"
	"github.com/holdfast/holdfast/repos/forge/forgetest"
)

// each runs a test at a forge of each provider.
func each(t *testing.T, test func(t *testing.T, there *forgetest.Forge, f forge.Forge)) {
	for _, provider := range forge.Providers() {
		t.Run(string(provider), func(t *testing.T) {
			there := forgetest.New(t, provider)
			test(t, there, there.Open(t))
		})
	}
}

func TestPullRequest(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		want := there.Pulls[7].PullRequest
		if there.Provider == forge.Bitbucket {
			want.Base = want.Base[:12]
		}
		got, err := f.PullRequest(t.Context(), 7)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
		there.Do(func() {
			there.Pulls[7].Fork, there.Pulls[7].State = true, forge.Merged
			there.Pulls[7].Merge = strings.Repeat("c3", 20)
		})
		source := ""
		if there.Provider == forge.Bitbucket {
			source = forgetest.Fork
		}
		if got, err = f.PullRequest(t.Context(), 7); err != nil || !got.Fork || got.State != forge.Merged ||
			got.Merge != strings.Repeat("c3", 20) || got.Source != source || got.Head != want.Head {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err = f.PullRequest(t.Context(), 8); !forge.Is(err, forge.Missing) {
			t.Error(err)
		}
	})
}

func TestListsHavePages(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		there.Do(func() {
			there.PageSize = 2
			there.Pulls[7].Files = []string{"a", "b", "c", "new <- old", "e"}
			for i := range 5 {
				there.Comment(7, there.User("bob"), fmt.Sprint("text ", i))
			}
			for n := range int64(4) {
				another := *there.Pulls[7]
				another.Number = 20 + n
				there.Pulls[20+n] = &another
			}
		})
		paths, all, err := f.ChangedFiles(t.Context(), 7)
		if diff := cmp.Diff([]string{"a", "b", "c", "new", "old", "e"}, paths); err != nil || !all || diff != "" {
			t.Error(all, err, diff)
		}
		comments, err := f.Comments(t.Context(), 7, time.Time{})
		if err != nil || len(comments) != 5 || comments[4].Body != "text 4" || comments[0].Author != there.User("bob") ||
			comments[0].Edited {
			t.Errorf("%+v, %v", comments, err)
		}
		if pulls, err := f.OpenPullRequests(t.Context()); err != nil || len(pulls) != 5 || pulls[0].Number != 23 {
			t.Errorf("%+v, %v", pulls, err)
		}
	})
}

func TestListsThatNeverEnd(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		there.Do(func() {
			there.PageSize = 1
			there.Pulls[7].Files = slices.Repeat([]string{"x.tf"}, 50)
		})
		if _, all, err := f.ChangedFiles(t.Context(), 7); err != nil || all {
			t.Error("the list is said to be whole", err)
		}
	})
}

func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		head := there.Pulls[7].Head
		s := forge.Status{Context: "holdfast/a-layer-with-a-name-that-is-longer-than-a-key",
			State: forge.Pending, Description: strings.Repeat("ü\n", 300), Link: "https://holdfast.example/runs/1"}
		for range 2 { // the second time is a repetition
			if err := f.SetStatus(t.Context(), head, s); err != nil {
				t.Fatal(err)
			}
		}
		s.State, s.Description = forge.Failure, "failed"
		if err := f.SetStatus(t.Context(), head, s); err != nil {
			t.Fatal(err)
		}
		if last := there.Statuses[len(there.Statuses)-1]; last.Commit != head || last.Status != s {
			t.Errorf("%+v", last)
		}
	})
}

func TestPermission(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		there.Person("renamed", "77", forge.Admin)
		for login, want := range map[string]forge.Permission{"ana": forge.Admin, "bob": forge.Write, "eve": forge.None} {
			if got, err := f.Permission(t.Context(), there.User(login)); err != nil || got != want {
				t.Errorf("%s: %v, %v", login, got, err)
			}
		}
		for _, stranger := range []forge.User{{}, {ID: "5", Login: "nobody"}, {ID: "5", Login: "renamed"}} {
			if got, err := f.Permission(t.Context(), stranger); err != nil || got != forge.None {
				t.Errorf("%v: %v, %v", stranger, got, err)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		code   int
		header map[string]string
		want   forge.Kind
		until  time.Duration // 0 for none
	}{
		{"credentials", 401, nil, forge.Credentials, 0},
		{"forbidden", 403, nil, forge.Forbidden, 0},
		{"missing", 404, nil, forge.Missing, 0},
		{"conflict", 409, nil, forge.Conflict, 0},
		{"invalid", 422, nil, forge.Invalid, 0},
		{"retry after seconds", 429, map[string]string{"Retry-After": "90"}, forge.Later, 90 * time.Second},
		{"retry after a date", 429, map[string]string{"Retry-After": "Mon, 02 Nov 2026 09:03:00 GMT"}, forge.Later,
			3 * time.Minute},
		{"used up", 403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1793610600"}, forge.Later,
			10 * time.Minute},
		{"too far", 429, map[string]string{"X-RateLimit-Reset": "1900000000"}, forge.Later, 2 * time.Hour},
		{"gitlab's", 429, map[string]string{"RateLimit-Reset": "1793610060"}, forge.Later, time.Minute},
		{"nothing said", 429, nil, forge.Later, time.Minute},
		{"down", 502, nil, forge.Unavailable, 0},
		{"down for a while", 503, map[string]string{"Retry-After": "5"}, forge.Unavailable, 5 * time.Second},
		{"elsewhere", 302, map[string]string{"Location": "http://127.0.0.1:1/"}, forge.Unavailable, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, provider := range forge.Providers() {
				there := forgetest.New(t, provider)
				there.Answer = func(w http.ResponseWriter, r *http.Request) bool {
					for name, value := range c.header {
						w.Header().Set(name, value)
					}
					w.WriteHeader(c.code)
					fmt.Fprintf(w, `{"message": "you sent %s%s"}`, r.Header.Get("Authorization"), r.Header.Get("Private-Token"))
					return true
				}
				f, err := forge.New(forge.Config{Provider: provider, API: there.URL, Repository: forgetest.Repository,
					Token: forgetest.Token, Transport: http.DefaultTransport, Now: func() time.Time { return now }})
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.PullRequest(t.Context(), 7)
				e, ok := err.(*forge.Error)
				if !ok || e.Kind != c.want {
					t.Fatalf("%s: %v", provider, err)
				}
				var until time.Time
				if c.until > 0 {
					until = now.Add(c.until)
				}
				if !e.Until.Equal(until) {
					t.Errorf("%s: until %v, not %v", provider, e.Until, until)
				}
				if strings.Contains(err.Error(), forgetest.Token) {
					t.Errorf("%s: a credential in %q", provider, err)
				}
			}
		})
	}
}

// What the token goes to is the API alone, whatever the forge answers.
func TestTokenStaysAtTheAPI(t *testing.T) {
	given := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		given <- r.URL.String()
	}))
	defer other.Close()
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		there.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				w.Header().Set("Link", "<"+other.URL+`/x>; rel="next"`)
				if there.Provider == forge.Bitbucket {
					fmt.Fprintf(w, `{"values": [], "next": %q}`, other.URL)
				} else {
					fmt.Fprint(w, `[]`)
				}
				return true
			}
			w.Header().Set("Location", other.URL+"/redirected")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}
		if _, err := f.Comments(t.Context(), 7, time.Time{}); !forge.Is(err, forge.Unavailable) {
			t.Error(err)
		}
		if _, err := f.CreateComment(t.Context(), 7, "x"); err == nil {
			t.Error("a redirect was followed")
		}
	})
	if len(given) > 0 {
		t.Errorf("another host was asked for %s", <-given)
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	there := forgetest.New(t, forge.GitHub)
	f, err := forge.New(forge.Config{Provider: forge.GitHub, API: there.URL, Repository: forgetest.Repository,
		Token: forgetest.Token})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.PullRequest(t.Context(), 7); !forge.Is(err, forge.Refused) || len(there.Calls) > 0 {
		t.Error(err, there.Calls)
	}
}

// The API of a server of one's own has a certificate of one's own authority.
func TestOwnAuthority(t *testing.T) {
	there := httptest.NewTLSServer(http.NotFoundHandler())
	defer there.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, certstest.PEM(there.Certificate()), 0o600); err != nil {
		t.Fatal(err)
	}
	for ca, want := range map[string]forge.Kind{"": forge.Unavailable, file: forge.Missing} {
		f, err := forge.New(forge.Config{Provider: forge.GitHub, API: there.URL, Repository: forgetest.Repository, CAFile: ca,
			Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.PullRequest(t.Context(), 7); !forge.Is(err, want) {
			t.Errorf("with %q: %v, want %v", ca, err, want)
		}
	}
}

func TestConfigs(t *testing.T) {
	good := forge.Config{Provider: forge.GitHub, Repository: "acme/network"}
	for name, change := range map[string]func(*forge.Config){
		"no provider":     func(c *forge.Config) { c.Provider = "svn" },
		"one name":        func(c *forge.Config) { c.Repository = "acme" },
		"three names":     func(c *forge.Config) { c.Repository = "acme/a/b" },
		"dots":            func(c *forge.Config) { c.Repository = "acme/.." },
		"query":           func(c *forge.Config) { c.Repository = "acme/a?b" },
		"a scheme":        func(c *forge.Config) { c.API = "file:///etc" },
		"a user":          func(c *forge.Config) { c.API = "https://a:b@host/" },
		"gitea's address": func(c *forge.Config) { c.Provider = forge.Gitea },
		"an app's key":    func(c *forge.Config) { c.App = &forge.App{ID: "1", Key: "none"} },
	} {
		bad := good
		change(&bad)
		if _, err := forge.New(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := forge.New(good); err != nil {
		t.Error(err)
	}
}

func ours(there *forgetest.Forge) (bodies []string) {
	there.Do(func() {
		for _, c := range there.Pulls[7].Comments {
			if c.Author.Login == forgetest.Bot().Login {
				bodies = append(bodies, c.Body)
			}
		}
	})
	return bodies
}

func TestOneComment(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		there.Do(func() { there.Comment(7, there.User("bob"), "hello") })
		known, err := forge.UpsertComment(t.Context(), f, 7, "key", "", "first")
		if err != nil || len(ours(there)) != 1 || !strings.HasSuffix(ours(there)[0], "\nfirst") {
			t.Fatal(known, err, ours(there))
		}
		// The process died before it remembered the comment.
		if again, err := forge.UpsertComment(t.Context(), f, 7, "key", "", "second"); err != nil || again != known {
			t.Fatal(again, err)
		}
		// Somebody has copied the marker, and it is not theirs that is kept.
		there.Do(func() { there.Comment(7, there.User("eve"), there.Pulls[7].Comments[1].Body) })
		if again, err := forge.UpsertComment(t.Context(), f, 7, "key", "", "third"); err != nil || again != known {
			t.Fatal(again, err)
		}
		if all := ours(there); len(all) != 1 || !strings.HasSuffix(all[0], "\nthird") {
			t.Error(all)
		}
		// Somebody has removed it.
		there.Do(func() { there.Pulls[7].Comments = slices.Delete(there.Pulls[7].Comments, 1, 2) })
		again, err := forge.UpsertComment(t.Context(), f, 7, "key", known, "fourth")
		if all := ours(there); err != nil || again == known || len(all) != 1 || !strings.HasSuffix(all[0], "\nfourth") {
			t.Error(again, err, all)
		}
	})
}

// A token that may not be asked whose it is does with the marker alone.
func TestOneCommentOfNobody(t *testing.T) {
	there := forgetest.New(t, forge.GitHub)
	there.As = forge.User{}
	f := there.Open(t)
	first, err := forge.UpsertComment(t.Context(), f, 7, "key", "", "first")
	if err != nil {
		t.Fatal(err)
	}
	there.Do(func() {
		copied := there.Pulls[7].Comments[0].Body
		there.Pulls[7].Comments = nil
		there.Comment(7, there.User("eve"), copied)
	})
	second, err := forge.UpsertComment(t.Context(), f, 7, "key", first, "second")
	if all := ours(there); err != nil || second == first || len(all) != 1 {
		t.Error(second, err, all)
	}
}

// Several nodes that write at once leave one comment behind.
func TestOneCommentOfMany(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		const nodes = 6
		known := make([]string, nodes)
		var wait sync.WaitGroup
		for i := range nodes {
			wait.Go(func() {
				var err error
				for range nodes { // a node that is told to come again does
					if known[i], err = forge.UpsertComment(context.Background(), f, 7, "key", known[i], "same"); err == nil {
						return
					}
				}
				t.Error(err)
			})
		}
		wait.Wait()
		for _, id := range known { // each has a last look, as reconcilers do
			if _, err := forge.UpsertComment(t.Context(), f, 7, "key", id, "same"); err != nil {
				t.Error(err)
			}
		}
		if all := ours(there); len(all) != 1 {
			t.Errorf("%d comments", len(all))
		}
	})
}

// An address that a page must not follow is none.
func TestAddressesOfPullRequestsAreHTTPS(t *testing.T) {
	each(t, func(t *testing.T, there *forgetest.Forge, f forge.Forge) {
		for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "//evil.example", "http://forge.example/7",
			"https:", "https://forge.example@evil.example/", "\x01https://forge.example/"} {
			there.Do(func() { there.Pulls[7].Link = bad })
			if got, err := f.PullRequest(t.Context(), 7); err != nil || got.Link != "" {
				t.Errorf("%q: %q, %v", bad, got.Link, err)
			}
		}
	})
}
