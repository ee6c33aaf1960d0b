package resourceindex_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/resourceindex"
)

// onNew runs a test on a new index.
func onNew(t *testing.T, test func(t *testing.T, x indexed)) {
	t.Helper()
	x, err := resourceindex.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	test(t, indexed{t, x})
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if _, err := x.Position(t.Context()); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("a closed index answers: %v", err)
	}
}

var (
	ourOrg     = uuid.MustParse("0f0e0d0c-0000-4000-8000-000000000001")
	otherOrg   = uuid.MustParse("0f0e0d0c-0000-4000-8000-000000000002")
	everything = resources.Scope{AnyState: true, Uploads: true}
)

// indexed is an index that a test works with.
type indexed struct {
	t *testing.T
	*resourceindex.Index
}

func (x indexed) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// put replaces a state's resources, all of version 1.
func (x indexed) put(org uuid.UUID, name state.Name, all ...resources.Resource) {
	x.t.Helper()
	x.must(x.Replace(x.t.Context(), state.Ref{Org: org, Name: name}, held(1), func(yield func(resources.Resource) bool) {
		for _, one := range all {
			one.State = name
			if !yield(one) {
				return
			}
		}
	}))
}

func (x indexed) search(org uuid.UUID, scope resources.Scope, q resources.Query) []string {
	x.t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	var all []resources.Resource
	for limit, more := q.Limit, true; more && len(all) < limit; more = q.After != (resources.Place{}) {
		q.Limit = limit - len(all)
		found, next, err := x.Search(x.t.Context(), org, scope, q)
		x.must(err)
		all, q.After = append(all, found...), next
	}
	return places(all)
}

func places(all []resources.Resource) []string {
	list := []string{}
	for _, one := range all {
		list = append(list, placeText(one.Place))
	}
	return list
}

func placeText(p resources.Place) string {
	if p.Source == resources.FromUpload {
		return "upload:" + p.Address
	}
	return string(p.State) + ":" + p.Address
}

func held(version uint64) resources.Holding {
	return resources.Holding{Version: version, Digest: state.Digest{byte(version)}, At: start}
}

var start = time.Date(2026, 1, 31, 12, 0, 0, 1000, time.UTC)

// inState is an object of a state with these identities.
func inState(address string, identities ...string) resources.Resource {
	return resources.Resource{
		Place: resources.Place{Source: resources.FromState, Address: address},
		Type:  "aws_instance", Provider: "aws", Mode: "managed", Name: "web", Version: 1, At: start,
		Traits: resources.Traits{Counts: true, Identities: marks(identities), Lanes: marks([]string{"lane"})},
	}
}

// uploaded is an upload with these identities.
func uploaded(name string, identities ...string) resources.Resource {
	return resources.Resource{
		Place: resources.Place{Source: resources.FromUpload, Address: "aws/compute/vm/" + name},
		Type:  "vm", Provider: "aws", Category: "compute", Name: name, At: start,
		Traits: resources.Traits{Counts: true, Identities: marks(identities), Lanes: marks([]string{"lane"})},
	}
}

func marks(texts []string) []resources.Mark {
	var all []resources.Mark
	for _, text := range texts {
		all = append(all, resources.MarkOf(text))
	}
	return all
}

func withAttributes(r resources.Resource, pairs ...string) resources.Resource {
	for i := 0; i < len(pairs); i += 2 {
		r.Attributes = append(r.Attributes, resources.Pair{Name: pairs[i], Value: pairs[i+1]})
	}
	return r
}

func TestPosition(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		want := resources.Position{Sequence: 1 << 40, Event: "an event", Complete: true}
		x.must(x.Advance(t.Context(), want))
		if got, err := x.Position(t.Context()); got != want || err != nil {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
	})
}

func TestHoldings(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		ref := state.Ref{Org: ourOrg, Name: "a"}
		if h, err := x.Holding(t.Context(), ref); h != (resources.Holding{}) || err != nil {
			t.Errorf("an unknown state is held: %+v %v", h, err)
		}
		x.put(ourOrg, "b", inState("one"))
		x.put(otherOrg, "a")
		x.put(ourOrg, "a", inState("one"))
		var names []string
		var after state.Ref
		for {
			page, err := x.Holdings(t.Context(), after, 2)
			x.must(err)
			if len(page) == 0 {
				break
			}
			for _, one := range page {
				names = append(names, one.Ref.Org.String()[35:]+string(one.Ref.Name))
			}
			after = page[len(page)-1].Ref
		}
		if diff := cmp.Diff([]string{"1a", "1b", "2a"}, names); diff != "" {
			t.Error(diff)
		}
		x.must(x.Remove(t.Context(), ref))
		x.must(x.Remove(t.Context(), ref))
		if h, err := x.Holding(t.Context(), state.Ref{Org: ourOrg, Name: "b"}); h.Version != 1 || !h.At.Equal(start) ||
			err != nil {
			t.Errorf("holding of b: %+v %v", h, err)
		}
		if got := x.search(ourOrg, everything, resources.Query{}); !slices.Equal(got, []string{"b:one"}) {
			t.Errorf("after a's removal: %q", got)
		}
	})
}

func TestUnread(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		encrypted := held(3)
		encrypted.Unread = fault.StateEncrypted
		for _, name := range []state.Name{"b", "a"} {
			x.must(x.Replace(t.Context(), state.Ref{Org: ourOrg, Name: name}, encrypted,
				func(func(resources.Resource) bool) {}))
		}
		x.put(ourOrg, "c", inState("vm"))
		for want, scope := range map[string]resources.Scope{
			"a b": everything, "b": {AnyState: true, States: func(name string) bool { return name == "b" }}, "": {Uploads: true},
		} {
			unread, err := x.Unread(t.Context(), ourOrg, scope, 10)
			x.must(err)
			var names []string
			for _, one := range unread {
				names = append(names, string(one.Ref.Name))
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("unread are %q, want %q", got, want)
			}
		}
	})
}

// TestEndedContext ends calls before they begin.
func TestEndedContext(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "a", inState("vm"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range map[string]func() error{
			"Search": func() error {
				_, _, err := x.Search(ctx, ourOrg, everything, resources.Query{Limit: 1})
				return err
			},
			"Coverage": func() error {
				_, _, err := x.Coverage(ctx, ourOrg, everything, resources.CoverageQuery{Status: resources.Missing, Limit: 1})
				return err
			},
			"Count": func() error {
				_, err := x.Count(ctx, ourOrg, everything, resources.CoverageQuery{})
				return err
			},
			"Unread": func() error {
				_, err := x.Unread(ctx, ourOrg, everything, 1)
				return err
			},
		} {
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s after its context ended: %v", name, err)
			}
		}
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) != 1 {
			t.Errorf("found %q after calls that were given up", got)
		}
	})
}

func TestReset(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "a", inState("vm"))
		x.must(x.Advance(t.Context(), resources.Position{Sequence: 1, Event: "an event", Complete: true}))
		x.must(x.Reset(t.Context()))
		p, err := x.Position(t.Context())
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) != 0 || p != (resources.Position{}) ||
			err != nil {
			t.Errorf("%q at %+v, after it was reset: %v", got, p, err)
		}
		x.put(ourOrg, "a", inState("vm"))
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) != 1 || x.Damaged() {
			t.Errorf("%q, damaged %v, after it was filled again", got, x.Damaged())
		}
	})
}
