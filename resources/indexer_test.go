package resources_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
)

// world is a server's stores with an indexer that runs when it is told to.
type world struct {
	t       testing.TB
	states  state.Store
	uploads inventory.Store
	index   *resourceindex.Index
	indexer *resources.Indexer
	service *resources.Service
	door    *state.Service
	now     time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, states: memory.New(256 << 20), uploads: inventorytest.New(),
		now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	w.door = state.NewService(w.states, state.DefaultPolicies{}, func() time.Time { return w.now }, discard())
	w.open()
	t.Cleanup(func() {
		_, _ = w.index.Close(), w.states.Close()
		_ = w.uploads.Close()
	})
	return w
}

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// open opens an index, as a restart does.
func (w *world) open() {
	w.t.Helper()
	var err error
	w.index, err = resourceindex.Open(context.Background())
	must(w.t, err)
	w.follow()
}

// follow fills the index from the stores that there are now.
func (w *world) follow() {
	w.t.Helper()
	rules, err := resources.DefaultRules()
	must(w.t, err)
	w.indexer = resources.NewIndexer(resources.Sources{Index: w.index, States: w.states, Uploads: w.uploads, Rules: rules,
		Log: discard(), Now: func() time.Time { return w.now }})
	w.service = resources.NewService(resources.Deps{Index: w.index, Indexer: w.indexer, States: w.door, Events: w.states,
		Uploads: w.uploads,
		Gate:    audit.NewGate(w.states, func() time.Time { return w.now })})
}

func refOf(name state.Name) state.Ref { return state.Ref{Org: acme, Name: name} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func owner(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
}

func (w *world) write(org uuid.UUID, name state.Name, body string) {
	w.t.Helper()
	_, err := w.door.Put(context.Background(), owner(org), name, state.Write{Body: []byte(body)})
	must(w.t, err)
}

func (w *world) upload(org uuid.UUID, body string) {
	w.t.Helper()
	_, err := inventory.NewService(w.uploads).Upload(context.Background(), owner(org), []byte(body), "")
	must(w.t, err)
}

func (w *world) catchUp() {
	w.t.Helper()
	must(w.t, w.indexer.CatchUp(context.Background()))
}

func (w *world) find(org uuid.UUID, text string) []string {
	w.t.Helper()
	words, err := resources.ParseWords(text)
	must(w.t, err)
	page, err := w.service.Search(context.Background(), owner(org), resources.Query{Words: words, Limit: 1000})
	must(w.t, err)
	found := []string{}
	for _, one := range page.Resources {
		found = append(found, string(one.State)+":"+one.Address)
	}
	return found
}

// vm is a state with instances of one resource, by their IDs.
func vm(serial int, ids ...string) string {
	var instances []string
	for n, id := range ids {
		instances = append(instances,
			fmt.Sprintf(`{"index_key":%d,"attributes":{"id":%q,"arn":"arn:aws:ec2:%s","tags":{"Env":"prod"},"password":"hunter%s","user_data":"open","pin":48151623,"port":48151623},
			"sensitive_attributes":[[{"type":"get_attr","value":"password"}],[{"type":"get_attr","value":"pin"}]]}`, n, id, id,
				id))
	}
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.9.0","resources":[{"mode":"managed","type":"aws_instance","name":"web",
		"provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[%s]}]}`, serial,
		strings.Join(instances, ","))
}

func TestIndexerFollowsStates(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.write(acme, "before", vm(1, "i-0"))
	w.catchUp()
	w.write(acme, "prod/net", vm(1, "i-1", "i-2"))
	w.write(globex, "prod/net", vm(1, "i-3"))
	w.write(acme, "secret", `{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}`)
	w.write(acme, "old", `{"version":3,"serial":1,"lineage":"l"}`)
	w.catchUp()
	want := []string{"before:aws_instance.web[0]", "prod/net:aws_instance.web[0]", "prod/net:aws_instance.web[1]"}
	if diff := cmp.Diff(want, w.find(acme, "aws_instance")); diff != "" {
		t.Error(diff)
	}
	if got := w.find(acme, "i-3"); len(got) > 0 {
		t.Errorf("another organization's %q", got)
	}
	page, err := w.service.Search(ctx, owner(acme), resources.Query{Limit: 1})
	must(t, err)
	if page.Behind || len(page.Unread) != 2 || page.Unread[0].Unread != fault.StateUnsupported ||
		page.Unread[1].Unread != fault.StateEncrypted {
		t.Errorf("behind %v, unread %+v", page.Behind, page.Unread)
	}
	w.write(acme, "prod/net", vm(2, "i-1"))
	must(t, w.door.Delete(ctx, owner(acme), "before", ""))
	if page, err = w.service.Search(ctx, owner(acme), resources.Query{Limit: 1}); err != nil || !page.Behind {
		t.Errorf("behind %v %v before the indexer ran", page.Behind, err)
	}
	w.catchUp()
	if diff := cmp.Diff([]string{"prod/net:aws_instance.web[0]"}, w.find(acme, "aws")); diff != "" {
		t.Error(diff)
	}
}

// Of what was reported several times, the newest is found, however it was read.
func TestIndexerTakesTheNewestReport(t *testing.T) {
	for _, apart := range []bool{false, true} {
		w := newWorld(t)
		for i := range 3 {
			w.upload(acme, fmt.Sprintf(`{"provider":"aws","category":"compute","resource_type":"vm","instances":[
				{"resource_name":"one","attributes":{"id":"i-%d"}},{"resource_name":"two-%d"}]}`, i, i))
			if apart {
				w.catchUp()
			}
		}
		w.catchUp()
		for i, want := range []int{0, 0, 1} {
			if got := w.find(acme, fmt.Sprint("i-", i)); len(got) != want {
				t.Errorf("read apart %v: i-%d is found as %q", apart, i, got)
			}
		}
		if got := w.find(acme, "compute"); len(got) != 4 {
			t.Errorf("read apart %v: %q", apart, got)
		}
	}
}

// Each of these changes what is found, by itself.
func TestIndexerFollowsEveryChange(t *testing.T) {
	w := newWorld(t)
	ctx, p := t.Context(), owner(acme)
	w.write(acme, "a", vm(1, "i-1"))
	w.write(acme, "a", vm(2, "i-2"))
	for _, c := range []struct {
		name string
		make func() error
		want string
	}{
		{"write", func() error { return nil }, "i-2"},
		{"rollback", func() error { _, err := w.door.Rollback(ctx, p, "a", 1, "why", ""); return err }, "i-1"},
		{"delete", func() error { return w.door.Delete(ctx, p, "a", "") }, ""},
		{"undelete", func() error { _, err := w.door.Undelete(ctx, p, "a"); return err }, "i-1"},
		{"purge", func() error { return w.door.Purge(ctx, p, "a", 3, "why") }, ""},
	} {
		must(t, c.make())
		w.catchUp()
		for _, id := range []string{"i-1", "i-2"} {
			if found := len(w.find(acme, id)) > 0; found != (id == c.want) {
				t.Errorf("after the %s, %s is found: %v", c.name, id, found)
			}
		}
	}
}

// No sensitive value is in the index, nor anything of a version that was purged, marked or not.
func TestSecretsStayOutOfTheIndex(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "a", vm(1, "i-77"))
	w.catchUp()
	w.wantInIndex("i-77", true) // the search of this test finds things
	w.wantInIndex("hunter", false)
	w.wantInIndex("48151623", false) // nor where the provider hands it back
	must(t, w.door.Purge(t.Context(), owner(acme), "a", 1, "leaked"))
	w.catchUp()
	w.wantInIndex("i-77", false)
	w.wantInIndex("77", false)
	w.write(acme, "a", vm(2, "i-78"))
	w.write(acme, "a", vm(3, "i-79"))
	w.catchUp()
	must(t, w.door.Purge(t.Context(), owner(acme), "a", 2, "leaked"))
	w.catchUp()
	w.wantInIndex("i-78", false)
	w.wantInIndex("i-79", true)
}

// wantInIndex looks into the index itself, whatever it would show to whom, for a word and in all that it keeps of
// resources.
func (w *world) wantInIndex(text string, want bool) {
	w.t.Helper()
	scope := resources.Scope{AnyState: true, Uploads: true}
	byWord, _, err := w.index.Search(context.Background(), acme, scope,
		resources.Query{Words: []string{text}, Limit: 1000})
	must(w.t, err)
	kept, _, err := w.index.Search(context.Background(), acme, scope, resources.Query{Limit: 1000})
	must(w.t, err)
	if found := len(byWord) > 0; found != want {
		w.t.Errorf("%q is found: %v", text, found)
	}
	if is := strings.Contains(fmt.Sprintf("%+v", kept), text); is != want {
		w.t.Errorf("%q is in the index: %v", text, is)
	}
}

// An index whose position is in another store's feed is made again: the store was put back from a backup, say.
func TestIndexOfAnotherStore(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "a", vm(1, "i-1"))
	w.write(acme, "b", vm(1, "i-2"))
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-1"}}`)
	w.catchUp()
	w.states, w.uploads = memory.New(1<<20), inventorytest.New()
	w.door = state.NewService(w.states, state.DefaultPolicies{}, time.Now, discard())
	w.write(acme, "b", vm(7, "i-7"))
	w.write(acme, "c", vm(1, "i-8"))
	w.follow()
	w.catchUp()
	want := []string{"b:aws_instance.web[0]", "c:aws_instance.web[0]"}
	if diff := cmp.Diff(want, w.find(acme, "")); diff != "" {
		t.Error(diff)
	}
}

// What was followed event by event is what is made from scratch, whatever happened and
// whenever the indexer ran or was broken off.
func TestIndexIsWhatARebuildMakes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		names := []state.Name{"a", "b", "c/d"}
		for serial := range rapid.IntRange(1, 25).Draw(r, "steps") {
			org := rapid.SampledFrom([]uuid.UUID{acme, globex}).Draw(r, "org")
			name := rapid.SampledFrom(names).Draw(r, "name")
			ctx := context.Background()
			switch rapid.SampledFrom([]string{"write", "write", "delete", "undelete", "purge", "rollback", "upload", "encrypt",
				"run", "cut"}).Draw(r, "step") {
			case "write":
				w.write(org, name, vm(serial,
					rapid.SliceOfN(rapid.SampledFrom([]string{"i-1", "i-2", "i-3"}), 0, 3).Draw(r, "ids")...))
			case "delete":
				_ = w.door.Delete(ctx, owner(org), name, "")
			case "undelete":
				_, _ = w.door.Undelete(ctx, owner(org), name)
			case "purge":
				_ = w.door.Purge(ctx, owner(org), name, uint64(rapid.IntRange(1, 5).Draw(r, "version")), "why")
			case "rollback":
				_, _ = w.door.Rollback(ctx, owner(org), name, uint64(rapid.IntRange(1, 5).Draw(r, "version")), "why", "")
			case "upload":
				w.upload(org, fmt.Sprintf(`{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u%d","attributes":{"id":"i-%d","n":%d}}`,
					serial%3, rapid.IntRange(1, 4).Draw(r, "id"), serial))
			case "encrypt":
				w.write(org, name, fmt.Sprintf(`{"serial":%d,"lineage":"l","encrypted_data":"AAAA"}`, serial))
			case "run":
				w.catchUp()
			case "cut":
				cut, cancel := context.WithCancel(ctx)
				cancel()
				_ = w.indexer.CatchUp(cut)
			}
		}
		w.catchUp()
		followed := w.dump()
		must(t, w.index.Close())
		w.open()
		w.catchUp()
		if diff := cmp.Diff(w.dump(), followed); diff != "" {
			r.Fatalf("a rebuild differs:\n%s", diff)
		}
		must(t, w.index.Close())
	})
}

// dump is all that can be asked of the index.
func (w *world) dump() map[string]any {
	w.t.Helper()
	all := map[string]any{}
	for _, org := range []uuid.UUID{acme, globex} {
		p := owner(org)
		page, err := w.service.Search(context.Background(), p, resources.Query{Limit: 1000})
		must(w.t, err)
		for i := range page.Resources {
			page.Resources[i].Traits = resources.Traits{}
		}
		all["search"+org.String()] = page
		counts, _, err := w.service.Count(context.Background(), p, resources.CoverageQuery{})
		must(w.t, err)
		text, err := json.Marshal(counts)
		must(w.t, err)
		all["count"+org.String()] = string(text)
	}
	return all
}

func TestRights(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "prod/a", vm(1, "i-1"))
	w.write(acme, "test/a", vm(1, "i-2"))
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-2"}}`)
	w.catchUp()
	prod, err := auth.ParsePatterns("prod/*")
	must(t, err)
	for _, c := range []struct {
		grant  auth.Grant
		search string
		counts string
	}{
		{auth.Grant{Role: auth.Owner}, "prod/a test/a upload", `{"state":{"managed":1,"missing":1},"upload":{"managed":1}}`},
		{auth.Grant{Role: auth.Reader, States: prod}, "prod/a upload", `{"state":{"missing":1},"upload":{"unmanaged":1}}`},
		{auth.Grant{Role: auth.Writer}, "prod/a test/a", "right_missing"},
		{auth.Grant{Role: auth.Uploader}, "right_missing", "right_missing"},
		{auth.Grant{Role: auth.Auditor}, "right_missing", "right_missing"},
		{auth.Grant{Role: auth.Outputs}, "right_missing", "right_missing"},
	} {
		p := auth.Principal{Org: acme, Grant: c.grant}
		page, err := w.service.Search(t.Context(), p, resources.Query{Limit: 10})
		var got []string
		for _, one := range page.Resources {
			if one.Source == resources.FromUpload {
				one.State = "upload"
			}
			got = append(got, string(one.State))
		}
		if err != nil {
			got = []string{string(fault.From(err).Code)}
		}
		if text := strings.Join(got, " "); text != c.search {
			t.Errorf("%s %v finds %q, want %q", c.grant.Role, c.grant.States, text, c.search)
		}
		counts, _, err := w.service.Count(t.Context(), p, resources.CoverageQuery{})
		raw, _ := json.Marshal(counts)
		if err != nil {
			raw = []byte(fault.From(err).Code)
		}
		if string(raw) != c.counts {
			t.Errorf("%s %v counts %s, want %s", c.grant.Role, c.grant.States, raw, c.counts)
		}
	}
}
