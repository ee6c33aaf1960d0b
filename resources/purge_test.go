package resources_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// purge is what the DELETE of a version does.
func (w *world) purge(name state.Name, number uint64) error {
	purged, err := w.door.Destroy(context.Background(), owner(acme), name, state.Purging{Number: number, Reason: "leaked"})
	if err != nil {
		return err
	}
	return w.service.Erase(context.Background(), owner(acme), name, purged)
}

// leak is a secret that no provider has marked as one, in all places that are searched.
func leak() string { return fmt.Sprintf("leak%016x", rand.Uint64()) }

func leaky(serial int, secrets ...string) string {
	var instances []string
	for n, secret := range secrets {
		instances = append(instances,
			fmt.Sprintf(`{"index_key":%d,"attributes":{"id":"i-%s","size":"size%s","tags":{"T":"tag%s"}}}`, n, secret, secret,
				secret))
	}
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.9.0","resources":[{"mode":"managed","type":"aws_instance","name":"web",
		"provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[%s]}]}`, serial,
		strings.Join(instances, ","))
}

// Secrets come and go among others, so that rows move from page to page, while somebody
// searches: when a purge has returned, the index has nothing of them.
func TestPurgeLeavesNothingInTheIndex(t *testing.T) {
	w := newWorld(t)
	names, leaks := []state.Name{"a", "b", "c"}, map[state.Name][]string{}
	for serial := range 8 {
		for _, name := range names {
			var secrets []string
			for range 1 + rand.IntN(40) {
				secrets = append(secrets, leak())
			}
			w.write(acme, name, leaky(serial+1, secrets...))
			w.write(acme, "other", vm(serial+1, "i-"+leak()))
			leaks[name] = secrets
			w.catchUp()
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_, _ = w.service.Search(ctx, owner(acme), resources.Query{Words: []string{"i"}, Limit: 10})
			}
		})
	}
	w.wantInIndex(leaks["a"][0], true)
	for _, name := range names {
		must(t, w.purge(name, 8))
		for _, secret := range leaks[name] {
			w.wantInIndex(secret, false)
			w.wantInIndex(secret[5:], false) // words share their beginnings
		}
	}
	stop()
	readers.Wait()
}

// An older version than the newest may be what the index has, and what it had.
func TestPurgeOfAnOlderVersion(t *testing.T) {
	w := newWorld(t)
	first, second := leak(), leak()
	w.write(acme, "a", leaky(1, first))
	w.catchUp()
	w.write(acme, "a", leaky(2, second))
	must(t, w.purge("a", 1))
	w.wantInIndex(first, false)
	w.catchUp()
	w.wantInIndex(second, true)
	w.write(acme, "a", vm(3, "i-3"))
	w.catchUp()
	must(t, w.purge("a", 2))
	w.wantInIndex(second, false)
	if got := w.find(acme, "i-3"); len(got) != 1 {
		t.Errorf("the newest version is found as %q", got)
	}
	if err := w.purge("a", 9); !fault.Is(err, fault.VersionNotFound) {
		t.Errorf("a version that isn't there: %v", err)
	}
}

// feeding are states whose feed is as slow as it is told to be.
type feeding struct {
	state.Store
	begun, goOn chan struct{}
}

func (f feeding) Feed(ctx context.Context, after uint64, limit int) ([]audit.Event, error) {
	f.begun <- struct{}{}
	<-f.goOn
	return f.Store.Feed(ctx, after, limit)
}

// A purge does not wait until the indexer is through with all that it has before it.
func TestPurgeComesInBetween(t *testing.T) {
	w := newWorld(t)
	secret := leak()
	w.write(acme, "a", leaky(1, secret))
	w.catchUp()
	slow := feeding{w.states, make(chan struct{}), make(chan struct{})}
	w.indexer.States = slow
	looked := make(chan error)
	go func() { looked <- w.indexer.CatchUp(context.Background()) }()
	<-slow.begun
	must(t, w.purge("a", 1))
	w.wantInIndex(secret, false)
	go func() {
		for range slow.begun { // the other looks at the feed
		}
	}()
	close(slow.goOn)
	must(t, <-looked)
	close(slow.begun)
}

// The index may miss a purge, when a client ends the call in between, say: nothing of the version is shown, and the
// index loses it with the next look.
func TestPurgeThatTheIndexMissed(t *testing.T) {
	for how, p := range map[string]*resources.Position{
		"missed":                                 nil,
		"missed, and the feed is another's then": {Sequence: 1 << 40, Event: "another", Complete: true},
	} {
		w := newWorld(t)
		secret := leak()
		w.write(acme, "a", leaky(1, secret))
		w.write(acme, "b", vm(1, "i-b"))
		w.catchUp()
		must(t, w.door.Purge(t.Context(), owner(acme), "a", 1, "leaked"))
		page, err := w.service.Search(t.Context(), owner(acme), resources.Query{Limit: 10})
		must(t, err)
		if !page.Behind || len(page.Resources) != 1 || page.Resources[0].State != "b" {
			t.Errorf("%s: before the next look, behind %v with %+v", how, page.Behind, page.Resources)
		}
		w.wantInIndex(secret, true)
		if p != nil {
			must(t, w.index.Advance(t.Context(), *p))
		}
		w.catchUp()
		w.wantInIndex(secret, false)
	}
}

// Without an index, who purges learns that it may not have happened there.
func TestPurgeWithoutTheIndex(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "a", vm(1, "i-1"))
	must(t, w.index.Close())
	if err := w.purge("a", 1); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("a purge without the index: %v", err)
	}
}

// What is deleted is not shown, however far behind the index is; what was written since
// stays as the index knows it.
func TestDeletedStatesAreNotShown(t *testing.T) {
	w := newWorld(t)
	for _, name := range []state.Name{"deleted", "purged", "older purged", "written", "kept"} {
		w.write(acme, state.Name(strings.ReplaceAll(string(name), " ", "-")), vm(1, "i-1"))
	}
	w.write(globex, "deleted", vm(1, "i-1"))
	w.catchUp()
	ctx, p := t.Context(), owner(acme)
	must(t, w.door.Delete(ctx, p, "deleted", ""))
	must(t, w.door.Purge(ctx, p, "purged", 1, "why"))
	w.write(acme, "older-purged", vm(2, "i-2"))
	must(t, w.door.Purge(ctx, p, "older-purged", 1, "why"))
	w.write(acme, "written", vm(2, "i-2"))
	want := []string{"kept:aws_instance.web[0]", "written:aws_instance.web[0]"}
	if got := w.find(acme, "i-1"); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("found %q, want %q", got, want)
	}
	counts, extent, err := w.service.Count(ctx, p, resources.CoverageQuery{})
	if n := counts[resources.FromState][resources.ClaimedTwice]; n != 2 || !extent.Behind || extent.Limited || err != nil {
		t.Errorf("%d claimed twice, behind %v, limited %v, %v", n, extent.Behind, extent.Limited, err)
	}
	if got := w.find(globex, "i-1"); len(got) != 1 {
		t.Errorf("another organization finds %q", got)
	}
}

// A search finds what was written before it: it waits for a running indexer.
func TestSearchFindsWhatWasJustWritten(t *testing.T) {
	w := newWorld(t)
	w.indexer.Start()
	t.Cleanup(func() { _ = w.indexer.Close() })
	current := 0
	for n := range 20 {
		name := state.Name(fmt.Sprintf("s%d", n))
		w.write(acme, name, vm(1, fmt.Sprintf("i-%d", n)))
		page, err := w.service.Search(t.Context(), owner(acme), resources.Query{State: name, Limit: 10})
		must(t, err)
		if !page.Behind {
			current++
			if len(page.Resources) != 1 {
				t.Errorf("%s: %d resources in an answer that says it is complete", name, len(page.Resources))
			}
		}
	}
	if current < 15 { // a look takes milliseconds; a search waits for seconds
		t.Errorf("only %d of 20 searches were complete", current)
	}
}
