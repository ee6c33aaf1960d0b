package resources_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/holdfast/holdfast/resources"
)

// largeState is a state as OpenTofu writes it, with so many resources of some seven
// kilobytes each: 14,000 are 100 MB.
func largeState(count int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","outputs":{},"resources":[`)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"module":"module.service[\"%d\"]","mode":"managed","type":"aws_instance","name":"web","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[{"index_key":"eu","schema_version":1,"attributes":{"arn":"arn:aws:ec2:eu-west-1:123456789012:instance/i-%08x"`, i, i)
		for n := range 25 {
			fmt.Fprintf(&b, `,"attribute_%d":"value-%d-%d"`, n, n, i%100)
		}
		for n := range 55 {
			fmt.Fprintf(&b, `,"block_%d":{"name":"service","list":["subnet-0a1b2c3d4e5f60718",%d,null],"text":"{\"Statement\":[]}"}`, n, n)
		}
		fmt.Fprintf(&b, `,"id":"i-%08x","password":"hunter%d","tags":{"Env":"prod","Owner":"team-%d"}},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"private":"eyJhIjoxfQ==","dependencies":["aws_vpc.main"]}]}`, i, i, i%50)
	}
	b.WriteString("],\"check_results\":null}\n")
	return b.Bytes()
}

// BenchmarkIndex shows how long a state takes to be indexed, and what a search costs then.
func BenchmarkIndex(b *testing.B) {
	for _, count := range []int{1400, 14000} {
		w := newWorld(b)
		body := largeState(count)
		w.write(acme, "large", string(body))
		name := fmt.Sprintf("%dMB", len(body)>>20)
		b.Run("Load/"+name, func(b *testing.B) {
			for b.Loop() {
				must(b, w.index.Remove(b.Context(), refOf("large")))
				must(b, w.index.Advance(b.Context(), resources.Position{}))
				w.catchUp()
			}
			runtime.GC()
		})
		for q, words := range map[string][]string{"ID": {fmt.Sprintf("i-%08x", count/2)}, "Tag": {"team-7"},
			"Everything": {"aws_instance"}} {
			b.Run("Search/"+q+"/"+name, func(b *testing.B) {
				for b.Loop() {
					_, err := w.service.Search(b.Context(), owner(acme), resources.Query{Words: words, Limit: 100})
					must(b, err)
				}
			})
		}
		b.Run("Search/Attribute/"+name, func(b *testing.B) {
			for b.Loop() {
				_, err := w.service.Search(b.Context(), owner(acme),
					resources.Query{Attributes: []resources.Pair{{Name: "attribute_3", Value: "value-3-7"}}, Limit: 100})
				must(b, err)
			}
		})
		b.Run("Count/"+name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := w.service.Count(b.Context(), owner(acme), resources.CoverageQuery{})
				must(b, err)
			}
		})
	}
}
