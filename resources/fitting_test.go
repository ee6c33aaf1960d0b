package resources_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/resources"
)

// A page has a bounded amount of text, however many resources are asked for, and what does
// not fit is on the next ones.
func TestPagesAreBounded(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 100 {
		attributes := make([]string, 15)
		for j := range attributes {
			attributes[j] = fmt.Sprintf(`"a%d":"%s"`, j, strings.Repeat("x", 900))
		}
		all = append(all, fmt.Sprintf(`{"resource_name":"vm-%d","attributes":{%s}}`, i, strings.Join(attributes, ",")))
	}
	for range 2 {
		w.upload(acme, `{"provider":"aws","category":"compute","resource_type":"vm","instances":[`+strings.Join(all, ",")+
			`]}`)
		for i := range all {
			all[i] = strings.Replace(all[i], "vm-", "web-", 1)
		}
	}
	w.indexer.Uploaded(acme)
	w.catchUp()
	seen, pages := map[string]bool{}, 0
	for q := (resources.Query{Limit: 1000}); ; pages++ {
		page, err := w.service.Search(t.Context(), owner(acme), q)
		must(t, err)
		text := 0
		for _, r := range page.Resources {
			seen[r.Address] = true
			for _, p := range r.Attributes {
				text += len(p.Value)
			}
		}
		if text > 1<<20 {
			t.Errorf("a page has %d bytes", text)
		}
		if q.After = page.Next; page.Next == (resources.Place{}) {
			break
		}
	}
	if len(seen) != 200 || pages < 2 {
		t.Errorf("%d resources on %d more pages; want 200 on several", len(seen), pages)
	}
}
