package handlers_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
)

// Bad input about workspaces is refused with a code of its own, and nothing of it is there afterwards.
func TestBadInputAboutWorkspaces(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/workspaces/x"
	c.converse([]step{{"POST /api/v1/workspaces", `{"name":"x"}`, 200, ""}})
	variable := func(kind, name, more string) string {
		return `{"set":[{"kind":"` + kind + `","name":"` + name + `","value":"v"` + more + `}]}`
	}
	snapshot := func(path string) string {
		return `{"files":[{"path":"` + path + `","size":6,"sha256":"` + wireDigest + `"}]}`
	}
	zeros := strings.Repeat("\x00", 9<<20) // each of them is within the limits
	c.converse([]step{
		{"POST " + x + "/-/archive", packed(t, "1", zeros, "2", zeros, "3", zeros, "4", zeros), 413, "archive_bomb"},
		{"POST " + x + "/-/archive", packed(t, "1", zeros+zeros), 413, "file_too_large"},
		{"POST " + x + "/-/archive", packed(t, "../main.tf", "a = 1\n"), 400, "file_path_invalid"},
		{"POST " + x + "/-/archive", packed(t, "/main.tf", "a = 1\n"), 400, "file_path_invalid"},
		{"POST " + x + "/-/archive", packed(t, "main.tf", "->/etc/passwd"), 400, "archive_entry_refused"},
		{"POST " + x + "/-/archive", packed(t, "good.tf", "a = 1\n", "main.tf", "a = \"\xff\"\n"), 400, "file_not_text"},
		{"POST " + x + "/-/archive", packed(t, "main.tf", "a = 1\n")[:40], 400, "archive_invalid"},
		{"POST " + x + "/-/archive", packed(t, strings.Repeat("d/", 33)+"main.tf", "a = 1\n"), 413, "files_too_many"},
		{"POST " + x + "/-/snapshots", snapshot("../main.tf"), 400, "file_path_invalid"},
		{"POST " + x + "/-/snapshots", snapshot("/etc/passwd"), 400, "file_path_invalid"},
		{"POST " + x + "/-/snapshots", strings.ReplaceAll(snapshot("main.tf"), "cb78", "0000"), 409, "files_missing"},
		{"POST " + x + "/-/variables", variable("terraform", "1a", ""), 400, "variable_invalid"},
		{"POST " + x + "/-/variables", variable("terraform", "a b", ""), 400, "variable_invalid"},
		{"POST " + x + "/-/variables", variable("terraform", "", ""), 400, "variable_invalid"},
		{"POST " + x + "/-/variables", variable("environment", "A=B", ""), 400, "variable_invalid"},
		{"POST " + x + "/-/variables", variable("shell", "a", ""), 400, "variable_invalid"},
		{"POST " + x + "/-/variables", variable("terraform", "count", ""), 400, "variable_refused"},
		{"POST " + x + "/-/variables", variable("environment", "TF_HTTP_ADDRESS", ""), 400, "variable_refused"},
		{"POST " + x + "/-/variables", variable("environment", "LD_PRELOAD", ""), 400, "variable_refused"},
		{"POST " + x + "/-/variables", variable("terraform", "a", `,"hcl":true`), 400, "variable_hcl_invalid"},
		{"POST /api/v1/variables", variable("terraform", "1a", ""), 400, "variable_invalid"},
		{"POST /api/v1/workspaces", `{"name":"y","version":"newest"}`, 400, "workspace_invalid"},
		{"POST /api/v1/workspaces", `{"name":"y","directory":"../x"}`, 400, "workspace_invalid"},
		{"PATCH " + x, `{"tool":"make"}`, 400, "workspace_invalid"},
		{"GET " + x + "/-/snapshots", "", 200, `"snapshots":[]`},
		{"GET " + x + "/-/variables", "", 200, `"variables":[]`},
		{"GET /api/v1/variables", "", 200, `"variables":[]`},
		{"GET " + x, "", 200, `"revision":1`},
		{"GET /api/v1/workspaces/y", "", 404, "workspace_not_found"},
	})
}

// packed is a tar.gz of files, of each its name and its content, which is where it points to for
// a link.
func packed(t *testing.T, files ...string) string {
	t.Helper()
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	out := tar.NewWriter(zipped)
	for ; len(files) > 0; files = files[2:] {
		header := &tar.Header{Name: files[0], Mode: 0o644, Size: int64(len(files[1]))}
		if target, is := strings.CutPrefix(files[1], "->"); is {
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, target, 0
			files[1] = ""
		}
		err := out.WriteHeader(header)
		if _, failed := out.Write([]byte(files[1])); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return all.String()
}
