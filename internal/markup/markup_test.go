package markup_test

import (
	"testing"

	"github.com/holdfast/holdfast/internal/markup"
)

func TestValuesAreText(t *testing.T) {
	var p markup.Page
	p.Add("<a title=\"%v\">%v</a>", `"><script>`, "a\x00<b> & 'c'")
	p.Add("<p>%v of %v, 100%%</p>", 1, markup.Of("<i>%v</i>", "<%v>"))
	want := "<a title=\"&#34;&gt;&lt;script&gt;\">a\uFFFD&lt;b&gt; &amp; &#39;c&#39;</a>" +
		"<p>1 of <i>&lt;%v&gt;</i>, 100%</p>"
	if got := p.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
