// Package markup writes HTML out of constant pieces, between which every text is escaped.
//
// html/template would do, but a template calls methods by their names: the linker then keeps every
// exported method of every type of the program, which makes it an eighth larger.
package markup

import (
	"fmt"
	"html"
	"strings"
)

// HTML is markup, which is written as it is.
type HTML string

// piece is what only a constant can be made of outside of this package: no text of others gets to
// be a piece unseen.
type piece string

// Page is a page that is being written.
type Page struct{ text strings.Builder }

// Add writes a piece with verbs as fmt knows them. Values are escaped so that they are text, also
// between the quotes of an attribute; those that are HTML are not.
func (p *Page) Add(format piece, values ...any) { p.text.WriteString(string(Of(format, values...))) }

// String is what has been written.
func (p *Page) String() string { return p.text.String() }

// Of makes HTML of one piece and its values, as Add writes it.
func Of(format piece, values ...any) HTML {
	escaped := make([]any, len(values))
	for i, value := range values {
		if whole, ok := value.(HTML); ok {
			escaped[i] = string(whole)
			continue
		}
		escaped[i] = html.EscapeString(strings.ReplaceAll(fmt.Sprint(value), "\x00", "\uFFFD"))
	}
	return HTML(fmt.Sprintf(string(format), escaped...))
}
