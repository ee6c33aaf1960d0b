package inventorytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// The values that resources and filters draw from: some differ by what a database may
// overlook.
func someWords() []string { return []string{"aws", "AWS", "azure", "a_s", "a-s"} }

func someNames() []string {
	return []string{"web", "Web", "web ", " web", "wéb", "we\u0301b", "w%b", "w_b", "web\n", `"web"`, "=web", "web😀"}
}

func someAttributes() []string {
	return []string{
		`{}`, `{"size":"t2.micro"}`, `{"size":"T2.micro"}`, `{"size":"t2.micro "}`, `{"size":"t2.\u006dicro"}`,
		`{"\u0073ize":"t2.micro"}`,
		`{"size":1}`, `{"size":1.0}`, `{"size":"1"}`, `{"size":1e0}`, `{"size":true}`, `{"size":"true"}`, `{"size":null}`,
		`{"size":"null"}`,
		`{"size":""}`, `{"Size":"t2.micro"}`, `{"size":{"a":1,"b":[1,"x"]}}`, `{"size":{"b":[1,"x"],"a":1}}`,
		`{"size":[1.0]}`,
		`{"a.b":"t2.micro","a":{"b":"x"},"size":"x"}`, `{"a\"b":"'","$":"$.size","size":"😀\n"}`,
		`{"deep":{"size":"t2.micro"}}`, `{"size":"{\"a\":1,\"b\":[1,\"x\"]}"}`,
	}
}

// someFilters are pairs that match some of these attributes, or seem to.
func someFilters() [][2]string {
	filters := [][2]string{{"a.b", "t2.micro"}, {"a", `{"b":"x"}`}, {`a"b`, "'"}, {"$", "$.size"}, {"", ""}, {"none", ""},
		{"none", "null"}, {"Size", "t2.micro"}, {"deep", `{"size":"t2.micro"}`}}
	for _, text := range []string{
		"t2.micro", "T2.micro", "t2.micro ", "1", "1.0", "1e0", "true", "null", "", "%", "t2_micro", `"t2.micro"`, `"1"`,
		`{"a":1,"b":[1,"x"]}`, `{"a": 1, "b": [1, "x"]}`, "[1.0]", "😀\n", `😀\n`,
	} {
		filters = append(filters, [2]string{"size", text})
	}
	return filters
}

// fillVariety uploads many combinations and returns all the records.
func fillVariety(t *testing.T, store inventory.Store, org uuid.UUID) []inventory.Record {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	var all []inventory.Record
	for size := range 20 {
		var resources []inventory.Resource
		for range size + 5 {
			resources = append(resources, someResource(random))
		}
		batch := batchOf(org, uuid.NewString(), resources...)
		// Given, so that periods have something to tell apart. Two batches share each.
		batch.At = time.Date(2026, 1, 1+size/4, 0, 0, 0, size%4/2*1000, time.UTC)
		all = append(all, recordsOf(batch, upload(t, store, batch))...)
	}
	return all
}

func someResource(random *rand.Rand) inventory.Resource {
	return inventory.Resource{
		Provider: oneOf(random, someWords()), Category: oneOf(random, someWords()), ResourceType: oneOf(random, someWords()),
		ResourceName: oneOf(random, someNames()), Attributes: []byte(oneOf(random, someAttributes())),
	}
}

func oneOf[T any](random *rand.Rand, values []T) T { return values[random.IntN(len(values))] }

// checkFilters tries every filter alone and many combinations.
func checkFilters(t *testing.T, store inventory.Store) {
	org := uuid.New()
	all := fillVariety(t, store, org)
	queries := []inventory.Query{{}}
	for _, word := range append(someWords(), "none", "Aws", "aw", "%", "a%") {
		queries = append(queries, inventory.Query{Provider: word}, inventory.Query{Category: word},
			inventory.Query{ResourceType: word})
	}
	for _, name := range append(someNames(), "none", "we", "WEB", "w", "%") {
		queries = append(queries, inventory.Query{ResourceName: name})
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		queries = append(queries, someQuery(random, all))
	}
	for _, query := range queries {
		wantQuery(t, store, org, query, all)
	}
}

// someQuery combines filters, most of which a record passes.
func someQuery(random *rand.Rand, all []inventory.Record) inventory.Query {
	like, query := oneOf(random, all), inventory.Query{}
	sometimes := func(set func()) {
		if random.IntN(3) == 0 {
			set()
		}
	}
	sometimes(func() { query.Provider = like.Provider })
	sometimes(func() { query.Category = like.Category })
	sometimes(func() { query.ResourceType = like.ResourceType })
	sometimes(func() { query.ResourceName = like.ResourceName })
	sometimes(func() { query.Since = oneOf(random, all).Timestamp })
	sometimes(func() { query.Until = oneOf(random, all).Timestamp })
	sometimes(func() {
		filter := oneOf(random, someFilters())
		query.Attributes = map[string]string{filter[0]: filter[1]}
	})
	return query
}

// checkAttributeFilters compares with attributes of every kind.
func checkAttributeFilters(t *testing.T, store inventory.Store) {
	org := uuid.New()
	all := fillVariety(t, store, org)
	for _, filter := range someFilters() {
		wantQuery(t, store, org, inventory.Query{Attributes: map[string]string{filter[0]: filter[1]}}, all)
	}
	two := map[string]string{"size": "x", "a.b": "t2.micro"}
	wantQuery(t, store, org, inventory.Query{Attributes: two}, all)
	two["a"] = "other"
	wantQuery(t, store, org, inventory.Query{Attributes: two}, all)
	wantQuery(t, store, org, inventory.Query{Attributes: map[string]string{}}, all)
}

// checkPeriods puts the bounds on, before and behind the timestamps.
func checkPeriods(t *testing.T, store inventory.Store) {
	org := uuid.New()
	all := fillVariety(t, store, org)
	var bounds []time.Time
	for _, record := range all {
		bounds = append(bounds, record.Timestamp)
	}
	zone := time.FixedZone("west", -7*3600)
	bounds = slices.Compact(bounds)
	for i, at := range bounds {
		for _, shift := range []time.Duration{-time.Microsecond, -1, 0, 1, time.Microsecond} {
			at := at.Add(shift).In(zone)
			wantQuery(t, store, org, inventory.Query{Since: at}, all)
			wantQuery(t, store, org, inventory.Query{Until: at}, all)
			wantQuery(t, store, org, inventory.Query{Since: bounds[i/2], Until: at}, all)
		}
	}
	wantQuery(t, store, org, inventory.Query{Since: time.Now().Add(1000 * time.Hour)}, all)
	wantQuery(t, store, org, inventory.Query{Until: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)}, all)
}

// checkSummary compares the groups with the records, while both grow.
func checkSummary(t *testing.T, store inventory.Store) {
	org, other := uuid.New(), uuid.New()
	wantSummary(t, store, org)
	fillVariety(t, store, org)
	wantSummary(t, store, org)
	upload(t, store, newBatch(other, 2))
	for i := range 3 {
		upload(t, store, newBatch(org, 2))
		upload(t, store, batchOf(org, fmt.Sprint("type-", i),
			inventory.Resource{Provider: "-", Category: "_", ResourceType: fmt.Sprint(i), ResourceName: "x",
				Attributes: []byte(`{}`)}))
		wantSummary(t, store, org)
	}
	wantSummary(t, store, other)
}
