package drawing

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// picture is a graph that is drawn: its nodes in order, its edges, and which of both are in a circle.
type picture struct {
	names []string
	needs map[string][]string
	in    map[string]int // the circle of a node, from 1
}

func pictureOf(g Graph) picture {
	p := picture{names: g.Names(), needs: map[string][]string{}, in: map[string]int{}}
	for _, name := range p.names {
		p.needs[name] = g.DependsOn(name)
	}
	for n, circle := range g.Circles() {
		for _, name := range circle {
			p.in[name] = n + 1
		}
	}
	return p
}

// red reports whether the edge between two nodes is part of a circle.
func (p picture) red(a, b string) bool { return p.in[a] != 0 && p.in[a] == p.in[b] }

// DOT writes a graph in Graphviz's language. An edge goes from what is needed to what needs it; circles are
// red.
func DOT(w io.Writer, g Graph) error {
	p := pictureOf(g)
	var b strings.Builder
	b.WriteString("digraph G {\n  rankdir=TB;\n  node [shape=box];\n")
	for _, name := range p.names {
		attributes := ""
		if p.in[name] != 0 {
			attributes = " [color=red, penwidth=2]"
		}
		fmt.Fprintf(&b, "  %s%s;\n", quoted(name), attributes)
	}
	for _, name := range p.names {
		for _, need := range p.needs[name] {
			attributes := ""
			if p.red(name, need) {
				attributes = " [color=red, penwidth=2]"
			}
			fmt.Fprintf(&b, "  %s -> %s%s;\n", quoted(need), quoted(name), attributes)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted is a string of Graphviz's language.
func quoted(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(name) + `"`
}

// Mermaid writes a graph as Mermaid draws it. Nodes have their names with underscores as IDs, and call
// show_resource_details when they are clicked, where a page has such a function.
func Mermaid(w io.Writer, g Graph) error {
	p := pictureOf(g)
	ids := map[string]string{}
	taken := map[string]bool{}
	var b strings.Builder
	b.WriteString("graph TD\n")
	for _, name := range p.names {
		id := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, name)
		for taken[id] {
			id += "_"
		}
		ids[name], taken[id] = id, true
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", id, strings.ReplaceAll(name, `"`, "#quot;"))
	}
	edges := 0
	var red []string
	for _, name := range p.names {
		for _, need := range p.needs[name] {
			fmt.Fprintf(&b, "  %s --> %s;\n", ids[need], ids[name])
			if p.red(name, need) {
				red = append(red, fmt.Sprint(edges))
			}
			edges++
		}
	}
	for _, name := range p.names {
		fmt.Fprintf(&b, "  click %s callback \"show_resource_details\"\n", ids[name])
		if p.in[name] != 0 {
			fmt.Fprintf(&b, "  style %s stroke:red,stroke-width:2px\n", ids[name])
		}
	}
	if len(red) > 0 {
		fmt.Fprintf(&b, "  linkStyle %s stroke:red,stroke-width:2px\n", strings.Join(red, ","))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Sizes of SVG, in pixels.
const (
	letter    = 7.3 // of the font, about
	boxHeight = 30.0
	rowHeight = 90.0
	gap       = 24.0
)

// place is where a box is: its left upper corner and its width.
type place struct{ x, y, width float64 }

// SVG writes a graph as a picture: what is needed stands above what needs it, circles are red.
func SVG(w io.Writer, g Graph) error {
	p := pictureOf(g)
	places, width, height := p.arranged()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" `+
		"font-family=\"monospace\" font-size=\"12\">\n", fmt.Sprintf("%.0f", width), fmt.Sprintf("%.0f", height))
	b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" ` +
		`orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>` + "\n")
	for _, name := range p.names {
		for _, need := range p.needs[name] {
			from, to := places[need], places[name]
			fmt.Fprintf(&b, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="%s" marker-end="url(#a)"/>`+
				"\n", from.x+from.width/2, from.y+boxHeight, from.x+from.width/2, from.y+boxHeight+gap,
				to.x+to.width/2, to.y-gap, to.x+to.width/2, to.y, colour(p.red(name, need), "#888"))
		}
	}
	for _, name := range p.names {
		at := places[name]
		fmt.Fprintf(&b, `<g><rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="4" fill="#fff" stroke="%s"/>`+
			`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#111">%s</text></g>`+"\n", at.x, at.y, at.width, boxHeight,
			colour(p.in[name] != 0, "#444"), at.x+at.width/2, at.y+boxHeight/2+4, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func colour(red bool, otherwise string) string {
	if red {
		return "red"
	}
	return otherwise
}

// arranged puts each node into the row below the last of what it needs, and orders rows by where that is.
func (p picture) arranged() (places map[string]place, width, height float64) {
	row := p.rows()
	var rows [][]string
	for _, name := range p.names {
		for len(rows) <= row[name] {
			rows = append(rows, nil)
		}
		rows[row[name]] = append(rows[row[name]], name)
	}
	places = map[string]place{}
	middle := func(name string) (sum float64) {
		for _, need := range p.needs[name] {
			sum += places[need].x + places[need].width/2
		}
		return sum / float64(max(len(p.needs[name]), 1))
	}
	for n, names := range rows {
		slices.SortStableFunc(names, func(a, b string) int { return int(middle(a) - middle(b)) })
		x := gap
		for _, name := range names {
			box := place{x, gap + float64(n)*rowHeight, float64(len([]rune(name)))*letter + 2*gap/2}
			places[name] = box
			x += box.width + gap
		}
		width = max(width, x)
	}
	return places, max(width, 2*gap), 2*gap + float64(max(len(rows)-1, 0))*rowHeight + boxHeight
}

// rows are the rows of the nodes, from 0. An edge within a circle counts for nothing.
func (p picture) rows() map[string]int {
	row := map[string]int{}
	waiting := map[string]int{}
	users := map[string][]string{}
	var ready []string
	for _, name := range p.names {
		for _, need := range p.needs[name] {
			if !p.red(name, need) {
				waiting[name]++
				users[need] = append(users[need], name)
			}
		}
		if waiting[name] == 0 {
			ready = append(ready, name)
		}
	}
	for len(ready) > 0 {
		name := ready[0]
		ready = ready[1:]
		for _, user := range users[name] {
			row[user] = max(row[user], row[name]+1)
			if waiting[user]--; waiting[user] == 0 {
				ready = append(ready, user)
			}
		}
	}
	return row
}
