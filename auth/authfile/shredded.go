package authfile

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// shreddedKind is that of the section which says that an organization was removed with all of its
// data. It stands in the place of the organization's own sections: nobody gets in for it from then
// on, and the servers that read the file destroy what they have of it.
const (
	shreddedKind   = "shredded"
	shreddedPrefix = shreddedKind + "."
)

// Shredding says that everything of an organization is to be destroyed, or was.
type Shredding struct {
	ID   uuid.UUID
	Name string
	// At is when that was said. It tells this shredding from an earlier one of the same ID.
	At time.Time

	line int // of its section, from 1
}

// isOf reports whether the section is one of the organization's, while it has any.
func (h header) isOf(id uuid.UUID) bool { return h.org == id && h.kind != shreddedKind }

func (h header) isShreddingOf(id uuid.UUID) bool { return h.org == id && h.kind == shreddedKind }

// shreddedSection is that of an organization that was removed with its data.
type shreddedSection struct {
	p    *parser
	made Shredding
}

func (*shreddedSection) about() sectionKind {
	return sectionKind{has: "a section of what is shredded has name and at"}
}

func (s *shreddedSection) set(l line) (problem string, known bool) {
	switch l.setting {
	case "name":
		s.made.Name = l.value
		if err := CheckName(l.value); err != nil {
			problem = "not a name: " + err.Error()
		}
	case "at":
		at, err := time.Parse(time.RFC3339, l.value)
		if s.made.At = at.UTC(); err != nil {
			problem = "not a time such as 2026-11-22T17:30:00Z"
		}
	default:
		return "", false
	}
	return problem, true
}

func (s *shreddedSection) end(at span) {
	s.p.lacks("a section of what is shredded needs at: when that was said", "at")
	s.made.line = at.first + 1
	s.p.doc.gone = append(s.p.doc.gone, s.made)
}

// checkShredded refuses a file in which an organization is shredded and there as well: nobody could
// say which of the two was meant, and one of them can't be undone.
func (p *parser) checkShredded() {
	for _, s := range p.doc.gone {
		if i, there := p.orgs[s.ID]; there {
			p.faults.add(s.line, "%s", "the organization in line "+strconv.Itoa(p.doc.orgs[i].span.first+1)+
				" is to be destroyed, and there as well; take one of the two sections out")
		}
	}
}

// Shreddings returns the organizations that were removed with all of their data, in the order of the
// file. The slice belongs to the document.
func (d *Document) Shreddings() []Shredding { return d.gone }

// Shredding returns what the document says of an organization that was removed with its data.
func (d *Document) Shredding(id uuid.UUID) (Shredding, bool) {
	i := slices.IndexFunc(d.gone, func(s Shredding) bool { return s.ID == id })
	if i < 0 {
		return Shredding{}, false
	}
	return d.gone[i], true
}

// ShredOrganization puts in the place of an organization's sections one that says that everything
// of it is to be destroyed.
func (d *Document) ShredOrganization(id uuid.UUID, at time.Time) error {
	o, err := d.organization(id)
	if err != nil {
		return err
	}
	br := d.lineBreak()
	text := []line{{text: "[" + shreddedPrefix + id.String() + "]" + br}}
	if o.Name != "" {
		text = append(text, line{text: "name = " + o.Name + br})
	}
	text = append(text, line{text: "at = " + at.UTC().Format(time.RFC3339) + br})
	left, place := d.without(header.isOf, id)
	if place < len(left) {
		text = append(text, line{text: br})
	} else if place > 0 && ending(left[place-1].text) == "" {
		left = slices.Clone(left)
		left[place-1].text += br
	}
	return d.become(slices.Insert(slices.Clone(left), place, text...))
}

// ForgetShredding takes the section out that ShredOrganization has made.
func (d *Document) ForgetShredding(id uuid.UUID) error {
	left, _ := d.without(header.isShreddingOf, id)
	return d.become(left)
}

// Shreddings returns the organizations that were removed with all of their data, as the file in
// force says it. Nobody is let in for them by then.
func (w *Watcher) Shreddings() []Shredding {
	if gone := w.gone.Load(); gone != nil {
		return *gone
	}
	return nil
}
