package test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/holdfast/holdfast/"

// district is a part of the product, by the folders that it has: a folder stands for the packages below it too,
// unless one of them is named elsewhere.
type district struct {
	name    string
	folders []string
}

// districts are in the order in which they may import each other: a package imports packages of its own district
// and of rows above, never of its neighbours in the row or of rows below. cmd joins everything and has none.
func districts() [][]district {
	return [][]district{
		{{"base", []string{"fault", "api", "configs", "web", "internal"}}},
		{{"auth", []string{"auth", "seal", "quota", "internal/keyservice"}}, {"engine", []string{"engine"}},
			{"client", []string{"client"}}},
		{{"audit", []string{"audit", "internal/heads", "internal/webhook"}}},
		{{"states", []string{"state"}}, {"uploads", []string{"inventory"}}},
		{{"resources", []string{"resources"}}, {"runs", []string{"runs", "workspace", "agent/backend",
			"agent/archive"}},
			{"credentials", []string{"oidc", "auth/authfile", "auth/copies", "auth/keys", "auth/lastuse", "auth/session",
				"auth/verify"}}},
		{{"insight", []string{"insight"}}},
		{{"git", []string{"repos", "layers", "pulls"}}, {"compat", []string{"projects", "enclave"}},
			{"agents", []string{"agent"}}, {"live", []string{"live"}}},
		{{"storage", []string{"storage"}}, {"http", []string{"handlers", "middleware"}}},
		{{"server", []string{"server"}},
			{"measuring", []string{"bench", "internal/linear", "internal/runworld", "test/report"}}},
	}
}

// foreign is what a folder may not import of others: HTTP stays out of storage and of the domain, drivers stay out
// of everything but storage, and the work of checking a key stays out of what only asks who calls.
func foreign() map[string][]string {
	http, gin := "net/http", "github.com/gin-gonic"
	sql := []string{"database/sql", "modernc.org", "github.com/go-sql-driver"}
	domain := append([]string{http, gin, "golang.org/x/crypto/bcrypt", "github.com/fsnotify"}, sql...)
	found := map[string][]string{"storage": {http, gin}, "middleware": sql, "handlers": sql}
	for _, folder := range []string{"api", "fault", "seal", "audit", "quota", "state", "workspace", "live", "insight",
		"pulls", "inventory", "resources", "layers", "enclave", "configs"} {
		found[folder] = domain
	}
	found["auth"] = append([]string{http, gin}, sql...)
	for _, folder := range []string{"agent", "client", "oidc"} { // these ask servers
		found[folder] = append([]string{gin}, sql...)
	}
	return found
}

func TestImportsFollowTheDesign(t *testing.T) {
	level, name := map[string]int{}, map[string]string{}
	for i, row := range districts() {
		for _, d := range row {
			for _, folder := range d.folders {
				level[folder], name[folder] = i, d.name
			}
		}
	}
	used := map[string]bool{}
	for _, path := range packageFolders(t) {
		if strings.HasPrefix(path, "cmd/") || path == "test" {
			continue
		}
		from := folderOf(path, name)
		if from == "" {
			t.Errorf("%s is in no district: say in which one its folder is", path)
			continue
		}
		used[from] = true
		top, _, _ := strings.Cut(path, "/")
		for _, imported := range importsOf(t, path) {
			own, ours := strings.CutPrefix(imported, module)
			to := folderOf(own, name)
			if ours && name[to] != name[from] && (to == "" || level[to] >= level[from]) {
				t.Errorf("%s, of %s, imports %s, which is not above it in the list of districts", path, name[from], own)
			}
			if slices.ContainsFunc(foreign()[top], func(prefix string) bool {
				return imported == prefix || strings.HasPrefix(imported, prefix+"/")
			}) {
				t.Errorf("%s imports %s, which does not belong in %s", path, imported, top)
			}
		}
	}
	for folder := range name {
		if !used[folder] {
			t.Errorf("%s has no package: take it out of %s", folder, name[folder])
		}
	}
}

// importsOf returns what the files of a package import that are no tests.
func importsOf(t *testing.T, folder string) (paths []string) {
	t.Helper()
	for _, file := range filesMatching(t, filepath.Join("..", folder, "*.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			paths = append(paths, strings.Trim(spec.Path.Value, `"`))
		}
	}
	return paths
}

// folderOf is the longest folder with a district that the package is in.
func folderOf(path string, districts map[string]string) string {
	for districts[path] == "" {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return ""
		}
		path = path[:i]
	}
	return path
}
