package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/internal/markup"
)

// pageWriter writes the page of a document.
type pageWriter struct{ markup.Page }

func (d *pageDocument) html() string {
	var w pageWriter
	sections := d.sections()
	w.head(d.Info, sections)
	for i, section := range sections {
		w.Add("<section aria-labelledby=\"section-%v\">\n<h2 id=\"section-%v\">%v</h2>\n<p>%v</p>\n", i, i, section.Name,
			section.Description)
		for _, o := range section.Operations {
			w.operation(o)
		}
		w.Add("</section>\n")
	}
	w.credentials(d)
	w.Add("<section aria-labelledby=\"schemas\">\n<h2 id=\"schemas\">Shapes</h2>\n")
	for _, schema := range d.schemas() {
		w.schema(schema)
	}
	w.Add("</section>\n</main>\n</body>\n</html>\n")
	return w.String()
}

func (w *pageWriter) head(info Info, sections []pageSection) {
	w.Add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%v API</title>
<style>%v</style>
</head>
<body>
<header>
<h1>%v API</h1>
<p>%v</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a>, in OpenAPI 3.1.</p>
</header>
<nav aria-label="Sections"><ul>
`, info.Title, markup.HTML(pageStyle), info.Title, info.Description)
	for i, section := range sections {
		w.Add("<li><a href=\"#section-%v\">%v</a></li>\n", i, section.Name)
	}
	w.Add(`<li><a href="#credentials">How to show who you are</a></li>
<li><a href="#schemas">Shapes</a></li>
</ul></nav>
<main>
`)
}

func (w *pageWriter) operation(o pageOperation) {
	w.Add("<article id=\"%v\">\n<h3><a href=\"#%v\"><span class=\"method\">%v</span> <code>%v</code></a></h3>\n",
		o.OperationID, o.OperationID, o.Method, o.Path)
	w.Add("<p>%v</p>\n", strings.TrimSuffix(o.Summary+". "+o.Description, " "))
	for i, right := range o.Rights {
		w.Add("%v<code>%v</code>", map[bool]markup.HTML{true: `<p class="soft">Needs `, false: " or "}[i == 0], right)
	}
	if len(o.Rights) > 0 {
		w.Add(".</p>\n")
	}
	w.parameters(o)
	if body := o.RequestBody; body != nil {
		w.Add("<p>Body%v:", map[bool]string{false: ", which may be missing"}[body.Required])
		for _, media := range slices.Sorted(maps.Keys(body.Content)) {
			w.Add(" <code>%v</code> %v", media, kindOf(body.Content[media].Schema))
		}
		w.Add("</p>\n")
		for _, media := range slices.Sorted(maps.Keys(body.Content)) {
			w.examples(body.Content[media])
		}
	}
	w.responses(o)
	w.Add("</article>\n")
}

func (w *pageWriter) parameters(o pageOperation) {
	if len(o.Parameters) == 0 {
		return
	}
	w.Add("<dl>\n")
	for _, p := range o.Parameters {
		w.Add("<dt><code>%v</code> in %v%v: %v</dt><dd>%v</dd>\n", p.Name, p.In,
			map[bool]string{true: ", required"}[p.Required], kindOf(p.Schema), p.Description)
	}
	w.Add("</dl>\n")
}

func (w *pageWriter) responses(o pageOperation) {
	w.Add("<dl>\n")
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := o.Responses[status]
		w.Add("<dt><code>%v</code> %v</dt>", status, r.Description)
		for _, media := range slices.Sorted(maps.Keys(r.Content)) {
			w.Add("<dd><code>%v</code> %v", media, kindOf(r.Content[media].Schema))
			w.examples(r.Content[media])
			w.Add("</dd>")
		}
		w.Add("\n")
	}
	w.Add("</dl>\n")
}

func (w *pageWriter) examples(c pageContent) {
	for _, name := range slices.Sorted(maps.Keys(c.Examples)) {
		w.Add("<pre>%v</pre>", string(c.Examples[name].Value))
	}
}

func (w *pageWriter) credentials(d *pageDocument) {
	w.Add("<section aria-labelledby=\"credentials\">\n<h2 id=\"credentials\">How to show who you are</h2>\n<dl>\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.SecuritySchemes)) {
		scheme := d.Components.SecuritySchemes[name]
		w.Add("<dt><code>%v</code>", name)
		if scheme.Name != "" {
			w.Add(", header <code>%v</code>", scheme.Name)
		}
		w.Add("</dt><dd>%v</dd>\n", scheme.Description)
	}
	w.Add("</dl>\n</section>\n")
}

func (w *pageWriter) schema(s pageSchema) {
	w.Add("<article id=\"schema-%v\">\n<h3><a href=\"#schema-%v\">%v</a></h3>\n", s.Name, s.Name, s.Name)
	for line := range strings.SplitSeq(s.Description, "\n") {
		w.Add("<p>%v</p>\n", line)
	}
	if s.Kind != nil {
		w.Add("<p>%v</p>\n", kindOf(s.Kind))
	}
	if len(s.Members) > 0 {
		w.Add("<dl>\n")
		for _, m := range s.Members {
			w.member(m)
		}
		w.Add("</dl>\n")
	}
	w.Add("</article>\n")
}

func (w *pageWriter) member(m pageMember) {
	w.Add("<dt><code>%v</code>%v: %v</dt>", m.Name, map[bool]string{false: ", may be absent"}[m.Required],
		kindOf(m.Schema))
	if m.Description != "" {
		w.Add("<dd>%v</dd>", m.Description)
	}
	w.Add("\n")
}
