package main

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/elsewhere"
	"github.com/holdfast/holdfast/state"
)

// opened is what a zip file has, by the path.
func opened(t *testing.T, file string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string]string{}
	for _, f := range z.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(text)
	}
	return all
}

// zipped writes a zip file.
func (s *shell) zipped(name string, parts map[string]string) string {
	s.t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for path, text := range parts {
		to, err := z.Create(path)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.WriteString(to, text); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.write(name, out.String())
}

// TestExportOrganization writes what any program reads, signed by a key that is made once, and brings it
// elsewhere. What was changed in it is refused, whatever it is.
func TestExportOrganization(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.setenv("HOME", t.TempDir())
	s.push("prod/net", importedState(1, "a"))
	s.push("prod/net", importedState(2, "b"))
	s.push("Prod/net", importedState(1, "upper"))
	s.push("gone", importedState(1, "g"))
	s.must("state", "rm", "gone", "--yes")
	file := filepath.Join(t.TempDir(), "acme.zip")
	org := acme.String()
	s.fails("the key is one of", "export", "another")
	s.must("export", org, "-o", file)
	all := opened(t, file)
	for path, want := range map[string]string{"states/prod/net/1.tfstate": importedState(1, "a"),
		"states/prod/net/2.tfstate": importedState(2, "b"), "states/%50rod/net/1.tfstate": importedState(1, "upper"),
		"states/gone/1.tfstate": importedState(1, "g")} {
		if all[path] != want {
			t.Errorf("%s is %q", path, all[path])
		}
	}
	if !strings.Contains(all["audit.ndjson"], `"action":"state.write"`) {
		t.Errorf("the audit log is %s", all["audit.ndjson"])
	}
	key := filepath.Join(s.env("HOME"), ".config", "holdfast", "export-key.pem")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	s.fails("is there already", "export", org, "-o", file)
	if again := opened(t, file); len(again) != len(all) {
		t.Error("a file that was there was replaced")
	}
	s.must("export", org, "-o", file, "--overwrite") // with the same key
	if again := opened(t, file); again[elsewhere.ExportKey] != all[elsewhere.ExportKey] {
		t.Error("it is signed by another key")
	}

	for path := range all {
		changed := map[string]string{}
		for p, text := range all {
			changed[p] = text
		}
		changed[path] = strings.Replace(all[path], "a", "b", 1)
		if changed[path] == all[path] || !strings.HasSuffix(path, ".tfstate") && path != elsewhere.ExportManifest {
			continue
		}
		bad := s.zipped("bad.zip", changed)
		if code, out, errs := s.run("import", "export", bad, "--into", "x", "--dry-run"); code != exitFailed &&
			!strings.HasPrefix(path, "states/gone") {
			t.Errorf("with %s changed: exit %d, %s %s", path, code, out, errs)
		}
	}
	got := results(t, s.must("import", "export", file, "--into", "here", "--json"))
	if len(got) != 2 || got[1].Name != "here/prod/net" || got[1].Stored != 2 {
		t.Errorf("brought %+v", got)
	}
	if again := results(t, s.must("import", "export", file, "--into", "here", "--json")); again[1].Stored != 0 {
		t.Errorf("brought again %+v", again)
	}
	if out := s.must("state", "pull", "here/Prod/net"); out != importedState(1, "upper") {
		t.Errorf("it is %s", out)
	}
	s.fails("is signed by", "import", "export", file, "--signer", "1234")
}

// env is a variable of the environment.
func (s *shell) env(name string) string { return (&app{environ: s.environ}).getenv(name) }

// TestHostileExport: a manifest that somebody has made and signed leads nowhere, and nothing is unpacked that
// is longer than it says.
func TestHostileExport(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(parts map[string]string, files ...elsewhere.ExportedFile) string {
		text, err := json.Marshal(elsewhere.Manifest{Format: elsewhere.ExportFormat, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		parts[elsewhere.ExportManifest], parts[elsewhere.ExportSignature] = string(text), string(ed25519.Sign(private, text))
		parts[elsewhere.ExportKey] = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		return s.zipped("hostile.zip", parts)
	}
	bomb := elsewhere.ExportedFile{Path: "a", Size: 10, State: "bomb", Version: 1}
	for want, file := range map[string]string{
		"is no export":      s.write("no.zip", "PK"),
		"it is longer than": signed(map[string]string{"a": strings.Repeat("0", 50<<20)}, bomb),
		"can't be called that": signed(map[string]string{"a": "{}"},
			elsewhere.ExportedFile{Path: "a", State: "../up", Version: 1}),
		"is missing": signed(map[string]string{},
			elsewhere.ExportedFile{Path: "../../etc/passwd", State: "x", Version: 1}),
		"is too much": signed(map[string]string{"a": ""},
			elsewhere.ExportedFile{Path: "a", Size: 1 << 40, State: "x", Version: 1}),
		"twice": signed(map[string]string{"a": ""}, bomb, bomb),
	} {
		s.fails(want, "import", "export", file)
	}
	if out := s.must("state", "list", "--json"); strings.Contains(out, "bomb") {
		t.Errorf("there is %s", out)
	}
}

// tfe answers as Terraform Enterprise documents it: pages of workspaces and of state versions, the newest
// first, and downloads that lead to another service, which must not get the token.
func tfe(t *testing.T, versions map[string][]string) *httptest.Server {
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token went to another service")
		}
		var name string
		var number int
		if _, err := fmt.Sscanf(r.URL.Path, "/object/%3s/%d", &name, &number); err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, versions[name][number])
	}))
	t.Cleanup(files.Close)
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hush" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	page := func(w http.ResponseWriter, r *http.Request, all []any) {
		var number int
		_, _ = fmt.Sscan(r.URL.Query().Get("page[number]"), &number)
		var next *int
		if number < len(all) {
			next = pointer(number + 1)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": all[number-1 : number],
			"meta": map[string]any{"pagination": map[string]any{"current-page": number, "next-page": next}}})
	}
	mux.HandleFunc("GET /api/v2/organizations/acme/workspaces", func(w http.ResponseWriter, r *http.Request) {
		var all []any
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			all = append(all, map[string]any{"id": "ws-" + name, "attributes": map[string]any{"name": name}})
		}
		page(w, r, all)
	})
	mux.HandleFunc("GET /api/v2/state-versions", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		name := q.Get("filter[workspace][name]")
		if q.Get("filter[organization][name]") != "acme" || versions[name] == nil {
			http.NotFound(w, r)
			return
		}
		var all []any
		for i := len(versions[name]) - 1; i >= 0; i-- {
			all = append(all, map[string]any{"id": fmt.Sprint("sv-", i), "attributes": map[string]any{"serial": i,
				"created-at": fmt.Sprintf("2024-01-0%dT00:00:00Z", i+1), "status": "finalized",
				"hosted-state-download-url": fmt.Sprintf("%s/api/state-versions/%s/%d/hosted_state", server.URL, name, i)}})
		}
		all = append([]any{map[string]any{"id": "sv-9", "attributes": map[string]any{"status": "discarded"}}}, all...)
		if len(all) > 2 { // a version came while pages were read, and moved the others on
			all = slices.Insert(all, 2, all[1])
		}
		page(w, r, all)
	})
	mux.HandleFunc("GET /api/state-versions/{name}/{number}/hosted_state", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, files.URL+"/object/"+r.PathValue("name")+"/"+r.PathValue("number"), http.StatusFound)
	})
	return server
}

// removing has version 2 of net purged and version 1 swept away once version 3 is asked for.
func (s *shell) removing(inner http.Handler) http.Handler {
	asked := false
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch version := r.URL.Query().Get("version"); {
		case version == "3" && !asked:
			asked = true
			s.must("state", "versions", "net", "--purge", "2", "--reason", "leaked", "--yes")
		case version == "1":
			r.URL.RawQuery = "version=77"
		case asked && strings.HasSuffix(r.URL.Path, "/versions") && r.Method == http.MethodGet:
			said, list := httptest.NewRecorder(), api.Versions{}
			inner.ServeHTTP(said, r)
			if err := json.Unmarshal(said.Body.Bytes(), &list); err != nil {
				s.t.Error(err)
			}
			list.Versions = slices.DeleteFunc(list.Versions, func(v api.Version) bool { return v.Number == 1 })
			_ = json.NewEncoder(w).Encode(list)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// TestExportWhileRemoving: what goes on the server between the list and the bytes is left out, and is said to be.
func TestExportWhileRemoving(t *testing.T) {
	s := newShell(t)
	server := s.keeping(state.DefaultPolicy())
	s.setenv("HOME", t.TempDir())
	for serial := range 3 {
		s.push("net", importedState(serial+1, "a"))
	}
	server.Config.Handler = s.removing(server.Config.Handler)
	file := filepath.Join(t.TempDir(), "acme.zip")
	if out := s.must("export", acme.String(), "-o", file, "--json"); !strings.Contains(out, `"versions":1`) ||
		!strings.Contains(out, `"purged":1`) || !strings.Contains(out, `"removed":2`) {
		t.Errorf("exported %s", out)
	}
	var manifest elsewhere.Manifest
	if err := json.Unmarshal([]byte(opened(t, file)[elsewhere.ExportManifest]), &manifest); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(manifest.Removed) != "[{states/net/2.tfstate net 2} {states/net/1.tfstate net 1}]" {
		t.Errorf("removed: %v", manifest.Removed)
	}
	s.must("import", "export", file, "--dry-run")
}

func TestImportTFE(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	server := tfe(t, map[string][]string{"net": {importedState(1, "a"), importedState(2, "b")},
		"web": {importedState(1, "w")}})
	s.refuse(exitUsage, "set TFE_TOKEN", "import", "tfe", "acme")
	s.setenv("TFE_TOKEN", "hush")
	run := []string{"import", "tfe", "acme", "--tfe", server.URL, "--json"}
	if got := results(t, s.must(append(run, "--dry-run")...)); len(got) != 2 ||
		got[0].Name != "net" || got[0].Stored != 2 {
		t.Errorf("%+v", got)
	}
	s.must(run...)
	if got := results(t, s.must(run...)); got[0].Stored != 0 || got[1].Stored != 0 {
		t.Errorf("again: %+v", got)
	}
	if out := s.must("state", "pull", "net"); out != importedState(2, "b") {
		t.Errorf("the newest is %s", out)
	}
	if out := s.must("state", "versions", "net", "--json"); !strings.Contains(out,
		`"created_at":"2024-01-02T00:00:00Z"`) ||
		!strings.Contains(out, "the organization acme at "+server.URL+", sv-0, serial 0") {
		t.Errorf("the versions are %s", out)
	}
	s.fails("there is no such state", append(run, "none")...)
	s.setenv("TFE_TOKEN", "another")
	s.fails("HTTP 401", run...)
}
