// Package resourcestest holds the conformance suites of resources.Index. Every index passes
// RunIndex, every one that survives its process RunDurable as well. No check can be left out.
package resourcestest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// RunIndex holds a resources.Index to its contract. open returns a new, empty index, which
// the suite closes.
func RunIndex(t *testing.T, open func(t *testing.T) resources.Index) {
	for name, check := range map[string]func(*testing.T, indexed){
		"Position":        checkIndexPosition,
		"Holdings":        checkHoldings,
		"AllAtOnce":       checkReplaceAllAtOnce,
		"BrokenOff":       checkReplaceBrokenOff,
		"Pages":           checkIndexPages,
		"PageBytes":       checkIndexPageBytes,
		"Words":           checkWords,
		"OddWords":        checkOddWords,
		"Filters":         checkIndexFilters,
		"Scope":           checkIndexScope,
		"Tenants":         checkIndexTenants,
		"Uploads":         checkIndexUploads,
		"Repeats":         checkIndexRepeats,
		"Unread":          checkUnread,
		"Coverage":        checkCoverage,
		"CoverageScope":   checkCoverageScope,
		"CoverageTenants": checkCoverageTenants,
		"Claims":          checkClaims,
		"Ended":           checkIndexEnded,
		"Usable":          checkIndexUsable,
		"Shred":           checkIndexShred,
	} {
		t.Run(name, func(t *testing.T) {
			x := open(t)
			check(t, indexed{t, x})
			if err := x.Close(); err != nil {
				t.Error(err)
			}
			if _, err := x.Position(t.Context()); err == nil {
				t.Error("a closed index answers")
			}
		})
	}
}

var (
	indexOrg      = uuid.MustParse("0f0e0d0c-0000-4000-8000-000000000001")
	otherIndexOrg = uuid.MustParse("0f0e0d0c-0000-4000-8000-000000000002")
	everything    = resources.Scope{AnyState: true, Uploads: true}
)

// indexed is an index that a check works with.
type indexed struct {
	t *testing.T
	resources.Index
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
	return resources.Holding{Version: version, Digest: state.Digest{byte(version)}, At: indexTime}
}

var indexTime = time.Date(2026, 1, 31, 12, 0, 0, 1000, time.UTC)

// inState is an object of a state with these identities.
func inState(address string, identities ...string) resources.Resource {
	return resources.Resource{
		Place: resources.Place{Source: resources.FromState, Address: address},
		Type:  "aws_instance", Provider: "aws", Mode: "managed", Name: "web", Version: 1, At: indexTime,
		Traits: resources.Traits{Counts: true, Identities: marks(identities), Lanes: marks([]string{"lane"})},
	}
}

// uploaded is an upload with these identities.
func uploaded(name string, identities ...string) resources.Resource {
	return resources.Resource{
		Place: resources.Place{Source: resources.FromUpload, Address: "aws/compute/vm/" + name},
		Type:  "vm", Provider: "aws", Category: "compute", Name: name, At: indexTime,
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
