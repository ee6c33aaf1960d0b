package show_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/show"
)

// A list that is cut says how many there are in the plan, and what is destroyed comes before what is created.
func TestCutListsCountThePlanAndNameWhatGoes(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"format_version":"1.2","resource_changes":[`)
	for i := range 2000 {
		fmt.Fprintf(&text, `{"address":"terraform_data.many[%d]","mode":"managed","type":"terraform_data",
			"change":{"actions":["create"],"before":null,"after":{}}},`, i)
	}
	text.WriteString(`{"address":"terraform_data.gone","mode":"managed","type":"terraform_data",
		"change":{"actions":["delete"],"before":{},"after":null}}]}`)
	plan, err := facts.ReadBytes([]byte(text.String()), facts.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	insight := api.Insight{}
	insight.Facts, insight.Cut = facts.Of(plan)
	if insight.Facts.Total != 2001 || len(insight.Facts.Changes) != 1000 {
		t.Fatalf("%d of %d", len(insight.Facts.Changes), insight.Facts.Total)
	}
	var comment, block strings.Builder
	if err := show.MarkdownAs(&comment, insight, show.Manner{}); err != nil {
		t.Fatal(err)
	}
	if err := show.Text(&block, insight); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, more string }{
		"comment": {comment.String(), "- and 1951 more"}, "block": {block.String(), "… and 1901 more"},
	} {
		gone, many := strings.Index(c.text, "terraform_data.gone"), strings.Index(c.text, "terraform_data.many")
		if gone < 0 || gone > many || !strings.Contains(c.text, c.more) || !strings.Contains(c.text, "more than is shown") {
			t.Errorf("%s: %s", name, c.text)
		}
	}
}
