package document

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// largeState returns a state as OpenTofu writes it: so many resources, each of some seven
// kilobytes with a secret in it. change differs in one attribute of every hundredth.
func largeState(resources int, change string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","outputs":{},"resources":[`)
	for i := range resources {
		if i > 0 {
			b.WriteByte(',')
		}
		value := "same"
		if i%100 == 0 {
			value = change
		}
		fmt.Fprintf(&b, `{"module":"module.service[\"%d\"]","mode":"managed","type":"aws_iam_role","name":"task","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[{"index_key":"eu","schema_version":0,"attributes":{"arn":"arn:aws:iam::123456789012:role/%d"`, i, i)
		for n := range 60 {
			fmt.Fprintf(&b, `,"attribute_%d":{"name":"service","list":["subnet-0a1b2c3d4e5f60718",%d,null],"text":"{\"Statement\":[]}"}`, n, n)
		}
		fmt.Fprintf(&b, `,"id":"role-%d","password":"hunter%d","tags":{"Env":"%s"}},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"private":"eyJhIjoxfQ==","dependencies":["aws_vpc.main"]}]}`, i, i, value)
	}
	b.WriteString("],\"check_results\":null}\n")
	return b.Bytes()
}

// The figures are in the form MB/s and bytes allocated; a state of 1 MB has 145 resources,
// one of 100 MB has 14,000.
func BenchmarkState(b *testing.B) {
	for _, size := range []struct {
		name      string
		resources int
	}{{"1MB", 145}, {"100MB", 14000}} {
		before, after := largeState(size.resources, "blue"), largeState(size.resources, "green")
		run := func(name string, step func() error) {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(before)))
				b.ReportAllocs()
				for b.Loop() {
					if err := step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("Parse", func() error { _, err := Parse(before); return err })
		run("CountOf", func() error { _, err := CountOf(before); return err })
		x, err := Parse(before)
		if err != nil {
			b.Fatal(err)
		}
		y, err := Parse(after)
		if err != nil {
			b.Fatal(err)
		}
		run("Compare", func() error { return WriteText(io.Discard, x, y, Options{}, nil) })
		run("CompareEmpty", func() error { return WriteText(io.Discard, x, &Document{}, Options{}, nil) })
		run("Redacted", func() error { return WriteRedacted(io.Discard, before, nil) })
		run("Outputs", func() error { return WriteOutputs(io.Discard, before, nil) })
		run("Scalars", func() error {
			for i := range x.Instances {
				for range x.Instances[i].Scalars() {
				}
			}
			return nil
		})
	}
}
