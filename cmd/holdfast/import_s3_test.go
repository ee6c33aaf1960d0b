package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/holdfast/holdfast/state"
)

// bucket serves a bucket that keeps versions, as S3 does.
type bucket struct {
	t       *testing.T
	url     string
	backend *s3mem.Backend
	clock   gofakes3.TimeSourceAdvancer
}

func newBucket(t *testing.T, name string) bucket {
	clock := gofakes3.FixedTimeSource(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC))
	backend := s3mem.New(s3mem.WithTimeSource(clock))
	if err := backend.CreateBucket(name); err != nil {
		t.Fatal(err)
	}
	if err := backend.SetVersioningConfiguration(name, gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		if !strings.HasPrefix(sent, "AWS4-HMAC-SHA256 Credential=AKID/") || !strings.Contains(sent, "/eu-west-1/s3/aws4_request") || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return bucket{t, server.URL, backend, clock}
}

func (b bucket) put(key, body string) {
	b.t.Helper()
	if _, err := b.backend.PutObject("states", key, nil, strings.NewReader(body), int64(len(body)), nil); err != nil {
		b.t.Fatal(err)
	}
}

func TestImportS3(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	b := newBucket(t, "states")
	b.put("live/net/terraform.tfstate", importedState(1, "a"))
	b.clock.Advance(time.Hour)
	b.put("live/net/terraform.tfstate", importedState(2, "b"))
	b.put("live/net/terraform.tfstate", importedState(3, "c"))
	b.put("env:/prod/odd name+.tfstate", importedState(1, "x"))
	b.put("env:/prod/web.tfstate", importedState(5, "w"))
	b.put("live/net/terraform.tfstate.tflock", "{}")
	b.put("gone.tfstate", importedState(1, "g"))
	if _, err := b.backend.DeleteObject("states", "gone.tfstate"); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitUsage, "set AWS_ACCESS_KEY_ID", "import", "s3", "states")
	s.setenv("AWS_ACCESS_KEY_ID", "AKID")
	s.setenv("AWS_SECRET_ACCESS_KEY", "hush")
	s.setenv("AWS_REGION", "eu-west-1")
	run := []string{"import", "s3", "states", "--endpoint", b.url, "--json"}
	s.fails("it can't be called that here", run[:5]...)
	for _, step := range []struct {
		names  []string
		stored []int
	}{{[]string{"live/net", "prod/web"}, []int{0, 0}}, {[]string{"live/net"}, []int{0}}} {
		got := results(t, s.must(append(run, step.names...)...))
		for i, one := range got {
			if one.Name != step.names[i] || one.Stored != step.stored[i] {
				t.Errorf("%+v, want %s with %d", one, step.names[i], step.stored[i])
			}
		}
	}
	b.put("live/net/terraform.tfstate", importedState(4, "d"))
	if got := results(t, s.must(append(run, "live/net")...)); got[0].Versions != 4 || got[0].Stored != 1 || got[0].Serial != 4 {
		t.Errorf("%+v", got)
	}
	if out := s.must("state", "list"); strings.Contains(out, "gone") || strings.Contains(out, "tflock") {
		t.Errorf("the states are %s", out)
	}
	if out := s.must("state", "pull", "live/net"); out != importedState(4, "d") {
		t.Errorf("the newest is %s", out)
	}
	if out := s.must("state", "versions", "live/net", "--json"); !strings.Contains(out, "imported from the bucket states at "+b.url) || strings.Count(out, `"version"`) != 4 ||
		strings.Count(out, `"created_at":"2024-01-02T03:04:05Z"`) != 1 || strings.Count(out, `"created_at":"2024-01-02T04:04:05Z"`) != 3 {
		t.Errorf("the versions are %s", out)
	}
	s.setenv("AWS_REGION", "us-east-1")
	s.fails("HTTP 403", run...)
}
