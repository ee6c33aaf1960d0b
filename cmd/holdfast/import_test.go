package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

func importedState(serial int, size string) string {
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.5.7","outputs":{"size":{"value":%q,"type":"string"}},"resources":[]}`, serial, size)
}

// setenv sets a variable of the environment, or sets it anew.
func (s *shell) setenv(name, value string) {
	s.environ = slices.DeleteFunc(s.environ, func(one string) bool { return strings.HasPrefix(one, name+"=") })
	s.environ = append(s.environ, name+"="+value)
}

// fails wants a command to fail with a text, behind what it shows of its progress.
func (s *shell) fails(want string, args ...string) {
	s.t.Helper()
	if code, _, errs := s.run(args...); code != exitFailed || !strings.Contains(errs, want) {
		s.t.Errorf("%q: exit %d, %s; want %s", args, code, errs, want)
	}
}

// results are what import printed as JSON.
func results(t *testing.T, out string) (all []brought) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return all
}

// A folder's files become versions with the times of the files, once.
func TestImportFolder(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	root := t.TempDir()
	put := func(file, text string, at time.Time) {
		t.Helper()
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	first := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	put("prod/terraform.tfstate", importedState(2, "b"), first.Add(time.Hour))
	put("prod/terraform.tfstate.backup", importedState(1, "a"), first)
	put("web.tfstate", importedState(7, "w"), first)
	put(".terraform/terraform.tfstate", `{"version":3}`, first)
	out := s.must("import", "folder", root, "--into", "old", "--dry-run")
	if !strings.Contains(out, "old/prod  2         2") || strings.Contains(out, "terraform") {
		t.Errorf("a dry run printed\n%s", out)
	}
	if out := s.must("state", "list"); strings.Contains(out, "old/") {
		t.Errorf("a dry run has stored\n%s", out)
	}
	for round, want := range []int{2, 0} {
		got := results(t, s.must("import", "folder", root, "--into", "old", "--json"))
		if len(got) != 2 || got[0].Name != "old/prod" || got[0].Stored != want || got[0].Serial != 2 {
			t.Errorf("round %d: %+v", round, got)
		}
	}
	if out := s.must("state", "pull", "old/prod"); out != importedState(2, "b") {
		t.Errorf("the newest is %s", out)
	}
	versions := s.must("state", "versions", "old/prod", "--json")
	if !strings.Contains(versions, `"created_at":"2024-01-02T03:04:05Z"`) ||
		!strings.Contains(versions, "imported from the folder") {
		t.Errorf("the versions are %s", versions)
	}

	// The client went on there, and is followed.
	put("prod/terraform.tfstate", importedState(3, "c"), first.Add(2*time.Hour))
	put("prod/terraform.tfstate.backup", importedState(2, "b"), first.Add(time.Hour))
	if got := results(t, s.must("import", "folder", root, "prod", "--into", "old", "--json")); got[0].Stored != 1 {
		t.Errorf("%+v", got)
	}
	// What was written here stays.
	s.stdin = importedState(9, "z")
	s.must("state", "push", "old/prod", "-")
	put("prod/terraform.tfstate", importedState(10, "d"), first.Add(3*time.Hour))
	code, _, errs := s.run("import", "folder", root, "--into", "old")
	if code != exitFailed || !strings.Contains(errs, "was written here since") ||
		!strings.Contains(errs, "1 state of 2 could not be imported") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if out := s.must("state", "pull", "old/prod"); out != importedState(9, "z") {
		t.Errorf("the newest is %s", out)
	}
}

// A state that was deleted here is not there because its versions are: an import says so.
func TestImportOfWhatWasDeleted(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "net.tfstate"), []byte(importedState(1, "a")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("import", "folder", root)
	s.must("state", "rm", "net", "--yes")
	s.fails("here it was deleted", "import", "folder", root)
	s.fails("here it was deleted", "import", "folder", root, "--dry-run")
	s.must("state", "undelete", "net")
	s.must("import", "folder", root)
	if out := s.must("state", "pull", "net"); out != importedState(1, "a") {
		t.Errorf("the newest is %s", out)
	}
}

// The key of this server never goes to another one, nor do that one's to this.
func TestImportHTTP(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		seen = append(seen, r.Method+" "+user+" "+password)
		switch {
		case r.URL.EscapedPath() == "/projects/group%2Fproject/state/a" && r.URL.RawQuery == "ref=main":
			fmt.Fprint(w, importedState(1, "escaped"))
		case r.URL.Path == "/none":
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/net", http.StatusFound)
		case password != "old-password":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Header().Set("Last-Modified", "Tue, 02 Jan 2024 03:04:05 GMT")
			fmt.Fprint(w, importedState(4, "n"))
		}
	}))
	defer elsewhere.Close()
	s.setenv("TF_HTTP_PASSWORD", "of-terraform")
	s.fails("HTTP 401", "import", "http", elsewhere.URL+"/net", "prod/net")
	s.setenv(envFromUser, "ada")
	s.setenv(envFromPassword, "old-password")
	s.fails("there is no such state", "import", "http", elsewhere.URL+"/none", "prod/net")
	s.fails("HTTP 302", "import", "http", elsewhere.URL+"/moved", "prod/net")
	s.must("import", "http", elsewhere.URL+"/net", "prod/net")
	s.must("import", "http", elsewhere.URL+"/net", "prod/net")
	if out := s.must("state", "versions", "prod/net", "--json"); !strings.Contains(out,
		`"created_at":"2024-01-02T03:04:05Z"`) || strings.Contains(out, `"number":2`) {
		t.Errorf("the versions are %s", out)
	}
	// The address is sent as it was typed, escapes and query too.
	s.must("import", "http", elsewhere.URL+"/projects/group%2Fproject/state/a?ref=main", "prod/escaped")
	s.refuse(exitUsage, envFromPassword, "import", "http", "http://ada:secret@old.example.com/state", "prod/net")
	s.refuse(exitUsage, "not a URL", "import", "http", "old.example.com/state", "prod/net")
	s.refuse(exitUsage, "never sent", "import", "http", elsewhere.URL+"/net#x", "prod/net")
	for _, one := range seen {
		if one != "GET  " && one != "GET ada old-password" {
			t.Errorf("the other server saw %q", one)
		}
	}
}

// A server that tells no times is followed, but not past what was written here since: nobody knows
// which of the two is newer.
func TestImportWithoutTimes(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	serial := 4
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, importedState(serial, "n"))
	}))
	defer elsewhere.Close()
	run := []string{"import", "http", elsewhere.URL + "/net", "net"}
	s.must(run...)
	serial = 5
	s.must(run...)
	s.stdin = importedState(6, "here")
	s.must("state", "push", "net", "-")
	serial = 7
	s.fails("a history of its own", run...)
	if out := s.must("state", "pull", "net"); out != importedState(6, "here") {
		t.Errorf("the newest is %s", out)
	}
}

// gitlab answers as GitLab does, for the states of one project.
func gitlab(t *testing.T, states map[string][]string) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/projects/77", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":77,"path_with_namespace":"group/project"}`)
	})
	mux.HandleFunc("POST /api/graphql", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Query     string
			Variables struct{ Path, Name, After string }
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Variables.Path != "group/project" {
			fmt.Fprint(w, `{"data":{"project":null}}`)
			return
		}
		if strings.Contains(asked.Query, "versions(") {
			gitlabVersions(w, asked.Variables.Name, asked.Variables.After)
			return
		}
		name, more := "prod", true // a page for each
		if asked.Variables.After == "1" {
			name, more = "a.b", false
		}
		fmt.Fprintf(w, `{"data":{"project":{"terraformStates":{"nodes":[{"name":%q,"createdAt":"2023-01-01T00:00:00Z","latestVersion":{"serial":%d,"createdAt":"2023-06-01T00:00:00Z"}}],
			"pageInfo":{"hasNextPage":%v,"endCursor":"1"}}}}}`, name, len(states[name])-1, more)
	})
	mux.HandleFunc("GET /api/v4/projects/{project}/terraform/state/{name}", func(w http.ResponseWriter, r *http.Request) {
		all := states[r.PathValue("name")]
		fmt.Fprint(w, all[len(all)-1])
	})
	mux.HandleFunc("GET /api/v4/projects/{project}/terraform/state/{name}/versions/{serial}",
		func(w http.ResponseWriter, r *http.Request) {
			for i, body := range states[r.PathValue("name")] {
				if r.PathValue("serial") == fmt.Sprint(i) && body == "down" {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				if r.PathValue("serial") == fmt.Sprint(i) && body != "" {
					fmt.Fprint(w, body)
					return
				}
			}
			w.WriteHeader(http.StatusNotFound)
		})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Private-Token") != "glpat-x" || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// gitlabVersions lists the versions of "timed", two a page, as a newer GitLab does; of others it knows no
// list, as an older one.
func gitlabVersions(w io.Writer, name, after string) {
	switch {
	case name == "denied":
		fmt.Fprint(w, `{"errors":[{"message":"Timeout on validation of query"}]}`)
	case name != "timed":
		fmt.Fprint(w, `{"errors":[{"message":"Field 'versions' doesn't exist on type 'TerraformState'","extensions":{"code":"undefinedField"}}]}`)
	case after == "":
		fmt.Fprint(w, `{"data":{"project":{"terraformState":{"versions":{"nodes":[{"serial":2,"createdAt":"2023-03-03T00:00:00Z"},{"serial":1,"createdAt":"2023-02-02T00:00:00Z"}],"pageInfo":{"hasNextPage":true,"endCursor":"b"}}}}}}`)
	default:
		fmt.Fprint(w, `{"data":{"project":{"terraformState":{"versions":{"nodes":[{"serial":0,"createdAt":"2023-01-01T11:00:00Z"}],"pageInfo":{"hasNextPage":false,"endCursor":"c"}}}}}}`)
	}
}

func TestImportGitLabTimes(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.setenv("GITLAB_TOKEN", "glpat-x")
	server := gitlab(t, map[string][]string{
		"prod": {importedState(0, "p")}, "a.b": {importedState(0, "x")}, "denied": {importedState(0, "d")},
		"timed": {importedState(0, "a"), importedState(1, "b"), importedState(2, "c")},
	})
	s.must("import", "gitlab", "77", "timed", "--gitlab", server.URL)
	out := s.must("state", "versions", "timed", "--json")
	for _, at := range []string{"2023-01-01T11:00:00Z", "2023-02-02T00:00:00Z", "2023-03-03T00:00:00Z"} {
		if strings.Count(out, `"created_at":"`+at+`"`) != 1 {
			t.Errorf("no version of %s: %s", at, out)
		}
	}
	// What is stored keeps its time, so that none is better than a wrong one.
	s.fails("Timeout on validation", "import", "gitlab", "77", "denied", "--gitlab", server.URL)
}

func TestImportGitLab(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	// Serial 1 was deleted there.
	server := gitlab(t, map[string][]string{"prod": {importedState(0, "a"), "", importedState(2, "c")},
		"a.b": {importedState(0, "x"), importedState(1, "y")}})
	s.refuse(exitUsage, "set GITLAB_TOKEN", "import", "gitlab", "77")
	s.setenv(envGitLabToken, "wrong")
	s.refuse(exitFailed, "HTTP 401", "import", "gitlab", "77", "--gitlab", server.URL)
	s.setenv(envGitLabToken, "glpat-x")
	s.refuse(exitFailed, "lists no states", "import", "gitlab", "other/project", "--gitlab", server.URL)
	for round, want := range []int{2, 0} {
		got := results(t, s.must("import", "gitlab", "77", "--gitlab", server.URL, "--into", "shop", "--json"))
		if len(got) != 2 || got[0].Name != "shop/a.b" || got[1].Versions != 2 || got[1].Stored != want || got[1].Serial != 2 {
			t.Errorf("round %d: %+v", round, got)
		}
	}
	versions := s.must("state", "versions", "shop/prod", "--json")
	for _, want := range []string{`"created_at":"2023-01-01T00:00:00Z"`, `"created_at":"2023-06-01T00:00:00Z"`,
		"project 77 at " + server.URL + ", serial 2"} {
		if !strings.Contains(versions, want) {
			t.Errorf("the versions lack %s: %s", want, versions)
		}
	}
	if out := s.must("state", "pull", "shop/prod"); out != importedState(2, "c") {
		t.Errorf("the newest is %s", out)
	}
}

// An import that broke off goes on where it was.
func TestImportGoesOn(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	states := map[string][]string{"prod": {importedState(0, "a"), importedState(1, "b"), "down", importedState(3, "d")}}
	server := gitlab(t, states)
	s.setenv(envGitLabToken, "glpat-x")
	run := []string{"import", "gitlab", "group/project", "prod", "--gitlab", server.URL}
	s.fails("HTTP 502", run...)
	if out := s.must("state", "pull", "prod"); out != importedState(1, "b") {
		t.Errorf("the newest is %s", out)
	}
	states["prod"][2] = importedState(2, "c")
	if got := results(t, s.must(append(run, "--dry-run", "--json")...)); got[0].Versions != 4 || got[0].Stored != 2 {
		t.Errorf("a dry run: %+v", got)
	}
	if got := results(t, s.must(append(run, "--json")...)); got[0].Versions != 4 || got[0].Stored != 2 ||
		got[0].Serial != 3 {
		t.Errorf("%+v", got)
	}
	if out := s.must("state", "versions", "prod", "--json"); strings.Count(out, `"version"`) != 4 {
		t.Errorf("the versions are %s", out)
	}
}

// A folder that has none, mistyped say, is no success.
func TestImportOfNothing(t *testing.T) {
	s := newShell(t)
	s.keeping(state.Policy{})
	dir := t.TempDir()
	s.refuse(exitFailed, "there are no states in", "import", "folder", dir)
}
