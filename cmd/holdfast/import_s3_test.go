package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/holdfast/holdfast/state"
)

// fakeBucket serves a bucket that keeps versions, as S3 does.
type fakeBucket struct {
	t       *testing.T
	url     string
	backend *s3mem.Backend
	clock   gofakes3.TimeSourceAdvancer
}

func newBucket(t *testing.T, name string, methods ...string) fakeBucket {
	clock := gofakes3.FixedTimeSource(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC))
	backend := s3mem.New(s3mem.WithTimeSource(clock))
	if err := backend.CreateBucket(name); err != nil {
		t.Fatal(err)
	}
	if err := backend.SetVersioningConfiguration(name,
		gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && !slices.Contains(methods, r.Method) || !wellSigned(r, "AKID", "hush", "eu-west-1") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return fakeBucket{t, server.URL, backend, clock}
}

// wellSigned reports whether a request has the signature that AWS computes out of what arrived: the
// fake one looks at none.
func wellSigned(r *http.Request, key, secret, region string) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	sent := r.Header.Get("Authorization")
	_, names, _ := strings.Cut(sent, "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	arrived, bad := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil || bad != nil || time.Since(at).Abs() > time.Minute {
		return false
	}
	arrived.ContentLength = r.ContentLength
	for name := range strings.SplitSeq(names, ";") {
		if value := r.Header.Values(name); name != "host" && name != "x-amz-date" {
			arrived.Header[http.CanonicalHeaderKey(name)] = value
		}
	}
	who := aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}
	asS3 := func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }
	if err := v4.NewSigner(asS3).SignHTTP(r.Context(), who, arrived, r.Header.Get("X-Amz-Content-Sha256"), "s3", region,
		at); err != nil {
		return false
	}
	return arrived.Header.Get("Authorization") == sent
}

func (b fakeBucket) put(key, body string) {
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
	// Deleted, and made again: what was before counts.
	b.put("again.tfstate", importedState(1, "before"))
	if _, err := b.backend.DeleteObject("states", "again.tfstate"); err != nil {
		t.Fatal(err)
	}
	b.put("again.tfstate", importedState(2, "after"))
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
	if got := results(t, s.must(append(run, "live/net")...)); got[0].Versions != 4 || got[0].Stored != 1 ||
		got[0].Serial != 4 {
		t.Errorf("%+v", got)
	}
	if out := s.must("state", "list"); strings.Contains(out, "gone") || strings.Contains(out, "tflock") {
		t.Errorf("the states are %s", out)
	}
	if out := s.must("state", "pull", "live/net"); out != importedState(4, "d") {
		t.Errorf("the newest is %s", out)
	}
	if out := s.must("state", "versions", "live/net", "--json"); !strings.Contains(out,
		"imported from the bucket states at "+b.url) || strings.Count(out, `"version"`) != 4 ||
		strings.Count(out, `"created_at":"2024-01-02T03:04:05Z"`) != 1 ||
		strings.Count(out, `"created_at":"2024-01-02T04:04:05Z"`) != 3 {
		t.Errorf("the versions are %s", out)
	}
	if got := results(t, s.must(append(run, "again")...)); got[0].Versions != 2 || got[0].Serial != 2 {
		t.Errorf("deleted and made again: %+v", got)
	}
	s.setenv("AWS_SECRET_ACCESS_KEY", "another")
	s.fails("HTTP 403", run...)
	s.setenv("AWS_SECRET_ACCESS_KEY", "hush")
	s.setenv("AWS_REGION", "us-east-1")
	s.fails("HTTP 403", run...)
}
