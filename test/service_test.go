//go:build e2e

package test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// startService starts a service of others that is as little as commands need of GitLab, Terraform Enterprise or S3: a
// GET or a POST is answered with the file of its path, or with the file index of a folder, and a PUT makes a file.
func startService(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 1); err != nil {
		return err
	}
	root := ts.MkAbs(args[0])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := filepath.Join(root, filepath.FromSlash(r.URL.Path))
		switch query := r.URL.Query(); {
		case r.Method == http.MethodPut:
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o700)
			}
			if err == nil {
				err = os.WriteFile(path, body, 0o600)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			w.Header().Set("ETag", `"1"`)
			return
		case r.Method == http.MethodPost && (query.Has("uploads") || query.Has("uploadId")): // of S3, around a PUT
			_, _ = io.WriteString(w, "<Upload><UploadId>1</UploadId></Upload>")
			return
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "index")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SERVICE", server.URL)
	return nil
}
