package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// realisticUpload is what a provider sends: 100 instances of 30 attributes.
func realisticUpload() []byte {
	instances := make([]string, 100)
	for i := range instances {
		attributes := make([]string, 30)
		for j := range attributes {
			attributes[j] = fmt.Sprintf(`"attribute_%d":"value %d of instance %d"`, j, j*i, i)
		}
		instances[i] = fmt.Sprintf(`{"resource_name":"web-server-%02d","attributes":{%s,"cpus":%d,"tags":{"env":"prod","team":"core"}}}`, i, strings.Join(attributes, ","), i)
	}
	return []byte(`{"provider":"aws","category":"compute","resource_type":"vm_instance","instances":[` +
		strings.Join(instances, ",") + `]}`)
}

// On an AMD EPYC, an upload: Shape 1,080 MB/s, json.Valid 430, jsontext 770. Names by the
// hundred thousand in one object miss the caches: 90 MB/s, and 130 for jsontext.
func BenchmarkUpload(b *testing.B) {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf(`"attribute_%d":%d`, i, i)
	}
	for _, bb := range []struct {
		name string
		data []byte
	}{
		{"upload", realisticUpload()},
		{"state", realisticState()},
		{"manyNames", []byte("{" + strings.Join(many, ",") + "}")},
	} {
		for _, scan := range []struct {
			name string
			ok   func() bool
		}{
			{"Shape", func() bool { return Shape(bb.data, Limits{}) == nil }},
			{"json.Valid", func() bool { return json.Valid(bb.data) }},
			{"jsontext-unique-names", func() bool { return jsontext.Value(bb.data).IsValid() }},
		} {
			b.Run(bb.name+"/"+scan.name, func(b *testing.B) {
				b.SetBytes(int64(len(bb.data)))
				b.ReportAllocs()
				for b.Loop() {
					if !scan.ok() {
						b.Fatal("refused")
					}
				}
			})
		}
	}
}
