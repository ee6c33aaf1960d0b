package debug

import (
	"io"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/internal/markup"
)

// HTML writes a report as a page of its own, without scripts.
func (r Report) HTML(w io.Writer, path string) error {
	var page markup.Page
	page.Add(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%v</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
td,th{text-align:left;padding:.1rem 1rem .1rem 0}li{font-family:monospace}</style></head><body>
<h1>%v</h1>
<p>Serial %v, lineage %v, %v resources.</p>
<table><tr><th>Type</th><th>Resources</th></tr>
`, path, path, r.Serial, r.Lineage, r.TotalResources)
	for _, name := range slices.Sorted(maps.Keys(r.ResourcesByType)) {
		page.Add("<tr><td>%v</td><td>%v</td></tr>\n", name, r.ResourcesByType[name])
	}
	page.Add("</table>\n")
	for _, list := range r.lists() {
		if len(list.Items) == 0 {
			continue
		}
		page.Add("<h2>%v (%v)</h2><ul>", list.Title, len(list.Items))
		for _, item := range list.Items {
			page.Add("<li>%v</li>", item)
		}
		page.Add("</ul>")
	}
	if r.IsValid {
		page.Add("\n<p>State file appears valid</p>")
	}
	page.Add("\n</body></html>\n")
	_, err := io.WriteString(w, page.String())
	return err
}
