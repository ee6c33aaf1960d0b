package inventorytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// checkUnknownOrganization asks for one that never uploaded.
func checkUnknownOrganization(t *testing.T, store inventory.Store) {
	for range 2 {
		org := uuid.New()
		wantRecords(t, store, org, nil)
		wantQuery(t, store, org, inventory.Query{Provider: "aws"}, nil)
		wantSummary(t, store, org)
		wantOrganizations(t, store, nil)
	}
}

// checkOrder reads back what was uploaded, in the order it came.
func checkOrder(t *testing.T, store inventory.Store) {
	org := uuid.New()
	var want []inventory.Record
	for _, n := range []int{1, 2, 100, 1} {
		batch := newBatch(org, n)
		want = append(want, recordsOf(batch, upload(t, store, batch))...)
		wantRecords(t, store, org, want)
	}
}

// oddAttributes are JSON that a parser on the way would change.
func oddAttributes() []string {
	return []string{
		`{}`,
		`{"id":9223372036854775807,"min":-9223372036854775808,"u":18446744073709551615}`,
		`{"n":1.0,"z":-0,"big":1e400,"E":1E+2,"small":1e-400,"third":0.3333333333333333333333333333,"long":` +
			strings.Repeat("9", 400) + `}`,
		`{"z":1,"a":2,"m":{"z":1,"a":2,"":3},"A":4,"aa":5}`,
		`{"sep":"` + "\u2028\u2029\u0085\ufeff" + `","html":"<script>&amp;'</script>","nbsp":"` + "\u00a0" + `"}`,
		`{"emoji":"😀👩‍👩‍👧‍👦","né":"é","nfd":"é","ß":"ＡＢＣ","rtl":"` + "\u202eabc\u200f" + `"}`,
		`{"escapes":"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u2028\u003c","\u006bey":"\u0000"}`,
		`{"long":"` + strings.Repeat("語", 10_000) + `"}`,
		`{"long":"` + strings.Repeat(`\"`, 10_000) + `","longer":"` + strings.Repeat("😀", 10_000) + `"}`,
		`{"nested":[[[[[[[[{"a":[]}]]]]]]]],"o":{"o":{"o":{}}},"mixed":[1,"1",null,true,false,{},[],1.50]}`,
		`{"csv":"a,b;c\"d'","sql":"'; DROP TABLE x; --","percent":"%s%d%!","null":null,"path":"$.a[0]","tab":"\t"}`,
		`{"` + strings.Repeat("k", 255) + `":"","` + strings.Repeat("語", 255) + `":0," ":" ","a.b":{"c.d":1}}`,
	}
}

// checkAttributes keeps attributes byte for byte.
func checkAttributes(t *testing.T, store inventory.Store) {
	org := uuid.New()
	var resources []inventory.Resource
	for i, attributes := range oddAttributes() {
		resources = append(resources, vm(fmt.Sprint("vm ", i), attributes))
	}
	wantExact(t, store, org, resources)
}

// wantExact uploads the resources, each alone and all together, and reads them back.
func wantExact(t *testing.T, store inventory.Store, org uuid.UUID, resources []inventory.Resource) {
	t.Helper()
	together := batchOf(org, uuid.NewString(), resources...)
	want := recordsOf(together, upload(t, store, together))
	for _, resource := range resources {
		alone := batchOf(org, uuid.NewString(), resource)
		want = append(want, recordsOf(alone, upload(t, store, alone))...)
	}
	wantRecords(t, store, org, want)
	for _, resource := range resources {
		query := inventory.Query{ResourceName: resource.ResourceName}
		wantQuery(t, store, org, query, want)
	}
}

// oddNames are names that files, databases and spreadsheets trip over. No two are equal.
func oddNames() []string {
	return []string{
		"a", "A", "a ", " a", "  a  ", "a\t", "é", "e\u0301", "É", "ß", "ss", "SS", "ı", "i", "I", "K", "\u212a", "ａ",
		`"`, `""`, `a"b`, `"a"`, "'", "`", "a,b", ",", ";", "a\nb", "\n", "a\rb", "a\r\nb", "\r\n", "\r", "a\n", "\na",
		"=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1", "'=1", "0", "00", "1e3", "NULL", "null", "true",
		"100%", "1_0", "1%0", "a\\b", `\`, `\N`, `\n`, "a\x01b\x1f\x7f", "\u2028", "\u200b", "\ufeff", "\ufeffa", "#", "//",
		"../..",
		strings.Repeat("😀", 255), strings.Repeat("😀", 254), strings.Repeat(" ", 255), strings.Repeat("x", 255),
		strings.Repeat("\n", 255),
	}
}

func checkResourceNames(t *testing.T, store inventory.Store) {
	var resources []inventory.Resource
	for i, name := range oddNames() {
		resources = append(resources, vm(name, fmt.Sprintf(`{"index":%d}`, i)))
	}
	wantExact(t, store, uuid.New(), resources)
}

// checkNotKept appends what no store keeps, alone and behind what it does, and asks for it.
func checkNotKept(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for _, name := range []string{"a\x00b", "\x00", "a\xffb", "\xed\xa0\x80", strings.Repeat("ü", 256)} {
		good := newBatch(org, 1)
		want := append(bare(mustRead(t, store, org, inventory.Query{})), recordsOf(good, upload(t, store, good))...)
		for field := range 4 {
			batch := newBatch(org, 2)
			r := &batch.Resources[1]
			*[]*string{&r.Provider, &r.Category, &r.ResourceType, &r.ResourceName}[field] = name
			if _, err := store.Append(t.Context(), batch); !fault.Is(err, fault.ParameterInvalid) {
				t.Errorf("a text %q: error %v, want %s", name, err, fault.ParameterInvalid)
			}
			receipts, err := store.AppendAll(t.Context(), []inventory.Batch{batch})
			if len(receipts) > 0 || !fault.Is(err, fault.ParameterInvalid) {
				t.Errorf("a text %q: %d receipts, error %v, want %s", name, len(receipts), err, fault.ParameterInvalid)
			}
		}
		wantRecords(t, store, org, want)
		for _, query := range []inventory.Query{{Provider: name}, {Category: name}, {ResourceType: name},
			{ResourceName: name}, {ResourceName: name, Order: inventory.Descending}} {
			wantQuery(t, store, org, query, want)
		}
		if _, found, err := store.Recorded(t.Context(), org, name); found || err != nil {
			t.Errorf("the ID %q: %v, %v", name, found, err)
		}
	}
}

// checkFields gives every field its longest and its oddest values.
func checkFields(t *testing.T, store inventory.Store) {
	org := uuid.New()
	words := []string{"a", "A", "aws", "AWS", "a_b", "a-b", "-", "_", "0", "-1", "NULL", strings.Repeat("w", 255),
		strings.Repeat("W", 255)}
	var resources []inventory.Resource
	for i, word := range words {
		other := words[(i+1)%len(words)]
		resources = append(resources,
			inventory.Resource{Provider: word, Category: other, ResourceType: other, ResourceName: "x",
				Attributes: []byte(`{}`)},
			inventory.Resource{Provider: other, Category: word, ResourceType: other, ResourceName: "x",
				Attributes: []byte(`{}`)},
			inventory.Resource{Provider: other, Category: other, ResourceType: word, ResourceName: "x",
				Attributes: []byte(`{}`)})
	}
	wantExact(t, store, org, resources)
	batch := newBatch(org, 1)
	batch.ID, batch.Request = strings.Repeat("A", 64), strings.Repeat("r", 128)
	upload(t, store, batch)
	batch = newBatch(org, 1)
	batch.ID = "-"
	upload(t, store, batch)
	wantSummary(t, store, org)
}

// checkLargeBatch is an upload of the largest size that the service lets through.
func checkLargeBatch(t *testing.T, store inventory.Store) {
	org := uuid.New()
	resources := make([]inventory.Resource, 100)
	for i := range resources {
		filler := strings.Repeat(fmt.Sprintf("%05d", i), 2000)
		resources[i] = vm(fmt.Sprint("vm ", i),
			fmt.Sprintf(`{"a":%q,"b":%[1]q,"c":%[1]q,"d":%[1]q,"e":%[1]q,"f":%[1]q,"g":%[1]q,"h":%[1]q,"i":%[1]q}`, filler))
	}
	batch := batchOf(org, uuid.NewString(), resources...)
	wantRecords(t, store, org, recordsOf(batch, upload(t, store, batch)))
}

// checkNothingShared changes its slices after they were given away.
func checkNothingShared(t *testing.T, store inventory.Store) {
	org := uuid.New()
	given, kept := namedBatch(org, "shared", 3), namedBatch(org, "shared", 3)
	want := recordsOf(kept, upload(t, store, given))
	scribble := func(resource *inventory.Resource) {
		for i := range resource.Attributes {
			resource.Attributes[i] = 'x'
		}
		resource.ResourceName = "x"
	}
	for i := range given.Resources {
		scribble(&given.Resources[i])
	}
	for range 2 {
		all := mustRead(t, store, org, inventory.Query{})
		wantSame(t, want, bare(all))
		for i := range all {
			scribble(&all[i].Resource)
		}
	}
}
