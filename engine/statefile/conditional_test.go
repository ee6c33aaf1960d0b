package statefile

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/engine/diag"
)

// bucketServer is an object store that implements the conditional headers of both dialects.
type bucketServer struct {
	mu      sync.Mutex
	next    int
	objects map[string]string
	tags    map[string]string
}

func (b *bucketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tag, there := b.tags[r.URL.Path]
	match, generation := r.Header.Get("If-Match"), r.Header.Get("X-Goog-If-Generation-Match")
	switch {
	case r.Header.Get("If-None-Match") == "*" && there, generation == "0" && there,
		there && match != "" && match != tag, generation != "" && generation != "0" && generation != strings.Trim(tag, `"`):
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	case !there && (r.Method != http.MethodPut || match != ""):
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodPut:
		text, _ := io.ReadAll(r.Body)
		b.next++
		tag = fmt.Sprintf("%q", fmt.Sprint(b.next))
		b.objects[r.URL.Path], b.tags[r.URL.Path] = string(text), tag
	case http.MethodDelete:
		delete(b.objects, r.URL.Path)
		delete(b.tags, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("X-Goog-Generation", strings.Trim(tag, `"`))
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, b.objects[r.URL.Path])
	}
}

func newBucket(t *testing.T, dialect Dialect) *Bucket {
	t.Helper()
	server := httptest.NewServer(&bucketServer{objects: map[string]string{}, tags: map[string]string{}})
	t.Cleanup(server.Close)
	return &Bucket{Address: server.URL + "/states", Dialect: dialect, Client: server.Client()}
}

func wantCategory(t *testing.T, err error, want diag.Category) {
	t.Helper()
	var fault *diag.Error
	if !errors.As(err, &fault) || fault.Category != want {
		t.Errorf("%v is none of %s", err, want)
	}
}

func TestM2ConditionalWritesLoseNothing(t *testing.T) {
	for _, dialect := range []Dialect{S3, GCS} {
		t.Run(string(dialect), func(t *testing.T) {
			bucket := newBucket(t, dialect)
			mine, theirs := NewConditional(bucket, "prod/net work.tfstate"), NewConditional(bucket, "prod/net work.tfstate")
			if f, err := mine.Read(t.Context()); f != nil || err != nil {
				t.Fatalf("%v %v", f, err)
			}
			f := sample(t)
			if err := mine.Write(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			wantCategory(t, theirs.Write(t.Context(), sample(t)), diag.Concurrency) // which hasn't seen mine
			read, err := theirs.Read(t.Context())
			if err != nil || read.Lineage != f.Lineage {
				t.Fatalf("%+v %v", read, err)
			}
			read.Serial++
			if err := theirs.Write(t.Context(), read); err != nil {
				t.Fatal(err)
			}
			wantCategory(t, mine.Write(t.Context(), f), diag.Concurrency)
		})
	}
}

func TestConditionalLockIsHeldByOne(t *testing.T) {
	for _, dialect := range []Dialect{S3, GCS} {
		t.Run(string(dialect), func(t *testing.T) {
			c := NewConditional(newBucket(t, dialect), "state")
			info := NewLockInfo("apply")
			release, err := c.Lock(t.Context(), info)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Lock(t.Context(), NewLockInfo("plan"))
			wantCategory(t, err, diag.Concurrency)
			if !strings.Contains(err.Error(), info.ID) {
				t.Errorf("%v doesn't name the holder", err)
			}
			wantCategory(t, c.ForceUnlock(t.Context(), "other"), diag.Concurrency)
			if err := c.ForceUnlock(t.Context(), info.ID); err != nil {
				t.Fatal(err)
			}
			wantCategory(t, release(t.Context()), diag.Concurrency) // it was broken
			release, err = c.Lock(t.Context(), info)
			if err != nil {
				t.Fatal(err)
			}
			if err := release(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantCategory(t, c.ForceUnlock(t.Context(), info.ID), diag.Concurrency)
		})
	}
}

func TestDamagedObjectIsNotAnEmptyState(t *testing.T) {
	bucket := newBucket(t, S3)
	if _, err := bucket.Put(t.Context(), "state", []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	_, err := NewConditional(bucket, "state").Read(t.Context())
	wantCategory(t, err, diag.State)
}
