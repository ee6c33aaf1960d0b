package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/state/document"
)

const graphed = `{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","outputs":{},"resources":[
 {"mode":"data","type":"aws_ami","name":"a","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[{"attributes":{"id":"1"}}]},
 {"module":"module.m[\"<k>\"]","mode":"managed","type":"aws_vpc","name":"v","provider":"provider[\"registry.opentofu.org/hashicorp/aws\"]","instances":[
  {"index_key":0,"attributes":{"id":"1","secret":"s3cret"},"dependencies":["data.aws_ami.a","gone.x"]},
  {"index_key":1,"attributes":{"id":"2"},"dependencies":["data.aws_ami.a","module.m[\"<k>\"].aws_vpc.v"]}]}]}`

// A graph has a resource once, with its number of instances, and a dependency once; what isn't in the
// state is in no edge, and no attribute in the graph.
func TestGraph(t *testing.T) {
	var w strings.Builder
	if err := document.WriteGraph(&w, []byte(graphed), nil); err != nil {
		t.Fatal(err)
	}
	const want = `{"nodes":[` +
		`{"address":"data.aws_ami.a","module":"","mode":"data","type":"aws_ami","provider":"registry.opentofu.org/hashicorp/aws","instances":1},` +
		`{"address":"module.m[\"<k>\"].aws_vpc.v","module":"module.m[\"<k>\"]","mode":"managed","type":"aws_vpc","provider":"registry.opentofu.org/hashicorp/aws","instances":2}],` +
		`"edges":[{"from":1,"to":0},{"from":1,"to":1}]}` + "\n"
	if w.String() != want {
		t.Errorf("got  %s\nwant %s", w.String(), want)
	}
	w.Reset()
	if err := document.WriteGraph(&w, []byte(`{"version":4,"serial":1,"lineage":"l","resources":[]}`), nil); err != nil ||
		w.String() != `{"nodes":[],"edges":[]}`+"\n" {
		t.Errorf("%s, %v", w.String(), err)
	}
}

// What a graph takes in memory is asked for.
func TestGraphAsksForMemory(t *testing.T) {
	full := errors.New("full")
	for room := int64(0); room < 3<<13; room += 1 << 13 {
		left := room
		err := document.WriteGraph(&strings.Builder{}, []byte(graphed), func(n int64) error {
			if left -= n; left < 0 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) {
			t.Errorf("with %d bytes: %v", room, err)
		}
	}
}
