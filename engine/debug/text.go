package debug

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/internal/printable"
)

// shownFaults is how many of a list Text shows.
const shownFaults = 5

// Text writes a report for people.
func (r Report) Text(w io.Writer, path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "State File: %s\nSerial: %d\nLineage: %s\nTotal Resources: %d\n", printable.Text(path), r.Serial,
		printable.Text(r.Lineage), r.TotalResources)
	if len(r.ResourcesByType) > 0 {
		b.WriteString("\nResources by Type:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(r.ResourcesByType)) {
		fmt.Fprintf(&b, "  %s: %d\n", printable.Text(name), r.ResourcesByType[name])
	}
	for _, list := range r.lists() {
		if len(list.Items) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%d):\n", list.Title, len(list.Items))
		for _, item := range list.Items[:min(len(list.Items), shownFaults)] {
			fmt.Fprintf(&b, "  %s\n", printable.Text(item)) // a state may have been made to be looked at
		}
		if more := len(list.Items) - shownFaults; more > 0 {
			fmt.Fprintf(&b, "  and %d more, which --format json has\n", more)
		}
	}
	if r.IsValid {
		b.WriteString("\nState file appears valid\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type titled struct {
	Title string
	Items []string
}

func (r Report) lists() []titled {
	return []titled{{"Duplicate Addresses", r.DuplicateAddresses}, {"Duplicate IDs", r.DuplicateIDs},
		{"Orphaned Resources", r.OrphanedResources}, {"Validation Errors", r.ValidationErrors}}
}

// Text writes a difference for people.
func (d Difference) Text(w io.Writer) error {
	var b strings.Builder
	for _, address := range d.Added {
		fmt.Fprintf(&b, "+ %s\n", address)
	}
	for _, address := range d.Removed {
		fmt.Fprintf(&b, "- %s\n", address)
	}
	for _, m := range d.Modified {
		fmt.Fprintf(&b, "~ %s: %s\n", m.Address, printable.Text(strings.Join(m.AttributesChanged, ", ")))
	}
	fmt.Fprintf(&b, "%d added, %d removed, %d modified, %d unchanged\n", len(d.Added), len(d.Removed), len(d.Modified),
		d.Unchanged)
	_, err := io.WriteString(w, b.String())
	return err
}
