package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/internal/printable"
)

const (
	// maxValues is how many values of a resource are shown, and maxValue how long one is.
	maxValues = 30
	maxValue  = 120 // characters
)

const (
	// unknown stands for what the tool will know only when it has applied.
	unknown = "(known after apply)"
	// hidden stands for a sensitive value; a list of changes has an object with it alone.
	hidden = "(sensitive)"
)

// Values is what a plan changes, with the values before and after, in Markdown: the gravest first, and as much as fits
// into a room by a measure. What is left out is counted. It is empty where nothing changes, or not one change fits.
func Values(all api.RunChanges, folds bool, room int, size func(string) int) string {
	blocks := blocksOf(all)
	if len(blocks) == 0 {
		return ""
	}
	head, end := "\n**Values**\n\n", ""
	if folds {
		head, end = "\n<details><summary>Values</summary>\n\n", "\n</details>\n"
	}
	left := func(n int) string {
		switch {
		case n > 0:
			return fmt.Sprintf("- and %d more, on the page of the run\n", n)
		case all.Cut:
			return "- and more than is kept\n"
		}
		return ""
	}
	room -= size(head) + size(end) + size(left(len(blocks)))
	var b strings.Builder
	shown := 0
	for _, block := range blocks {
		if room -= size(block); room < 0 {
			break
		}
		b.WriteString(block)
		shown++
	}
	if shown == 0 {
		return ""
	}
	return head + b.String() + left(len(blocks)-shown) + end
}

// blocksOf are the changes of resources, the gravest first, and of outputs.
func blocksOf(all api.RunChanges) (blocks []string) {
	changes := slices.Clone(all.Changes)
	slices.SortStableFunc(changes, func(a, b api.RunChange) int {
		return facts.Gravity(kindOf(a.Actions)) - facts.Gravity(kindOf(b.Actions))
	})
	for _, c := range changes {
		kind := kindOf(c.Actions)
		if kind == "" && c.Import == "" && c.Previous == "" {
			continue
		}
		if kind == "" {
			kind = "keep"
		}
		values, where := lines(c), ""
		if values == "" && slices.Contains(c.Actions, "update") {
			where = ", in what is not shown"
		}
		blocks = append(blocks, "- "+kind+" "+Code(c.Address)+where+"\n"+values)
	}
	for _, o := range all.Outputs {
		if kind := kindOf(o.Actions); kind != "" {
			values := ""
			switch before, after := valueOf(o.Before), valueOf(o.After); {
			case o.Sensitive:
				values = ": `" + hidden + "`"
			case before != after:
				values = ": " + before + " → " + after
			}
			blocks = append(blocks, "- "+kind+" output "+Code(o.Name)+values+"\n")
		}
	}
	return blocks
}

// kindOf is what a change does, in the words of insight; empty for nothing.
func kindOf(actions []string) string {
	switch has := func(action string) bool { return slices.Contains(actions, action) }; {
	case has("delete") && has("create"):
		return "replace"
	case has("delete"):
		return "delete"
	case has("create"):
		return "create"
	case has("update"):
		return "update"
	case has("forget"):
		return "forget"
	}
	return ""
}

// lines are the values of a resource that differ, by their paths. Of sensitive ones nobody knows whether they do.
func lines(c api.RunChange) string {
	was, is, unknowns := leaves(c.Before), leaves(c.After), leaves(c.Unknown)
	for path, known := range unknowns {
		if known == "true" {
			is[path] = unknown
		}
	}
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	var b strings.Builder
	n, alike := 0, 0
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		old, had := was[path]
		now, has := is[path]
		if old == now && had == has {
			if old == hidden {
				alike++
			}
			continue
		}
		if n++; n > maxValues {
			continue
		}
		fmt.Fprintf(&b, "  - %s: ", Code(path))
		switch {
		case !had:
			b.WriteString(text(now))
		case !has:
			b.WriteString(text(old) + " → nothing")
		default:
			b.WriteString(text(old) + " → " + text(now))
		}
		b.WriteString("\n")
	}
	if n > maxValues {
		fmt.Fprintf(&b, "  - and %d more values\n", n-maxValues)
	}
	if changes := slices.Contains(c.Actions, "update") || slices.Contains(c.Actions, "create"); changes && alike > 0 {
		fmt.Fprintf(&b, "  - sensitive, which may change too: %d\n", alike)
	}
	return b.String()
}

// leaves has the JSON of each leaf of a value by its path, without null.
func leaves(raw json.RawMessage) map[string]string {
	found := map[string]string{}
	var value any
	from := json.NewDecoder(bytes.NewReader(raw))
	from.UseNumber()
	if from.Decode(&value) != nil {
		return found
	}
	var walk func(value any, path string)
	walk = func(value any, path string) {
		switch v := value.(type) {
		case map[string]any:
			if len(v) == 1 && v[hidden] == true {
				found[path] = hidden
				return
			}
			for name, inner := range v {
				walk(inner, strings.TrimPrefix(path+"."+name, "."))
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i, inner := range v {
				walk(inner, path+"["+strconv.Itoa(i)+"]")
			}
			if len(v) > 0 {
				return
			}
		case nil:
			return
		}
		found[path] = jsonOf(value)
	}
	walk(value, "")
	return found
}

// jsonOf is a value's JSON as people read it.
func jsonOf(value any) string {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	_ = to.Encode(value) // it came from JSON
	return strings.TrimSpace(b.String())
}

func valueOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "nothing"
	}
	return text(string(raw))
}

// text is a value as code, which nothing in it can end, with its length where it is cut.
func text(value string) string {
	n, more := utf8.RuneCountInString(value), ""
	if n > maxValue {
		value, more = string([]rune(value)[:maxValue]), fmt.Sprintf("… (%d characters)", n)
	}
	return "`" + strings.NewReplacer("`", "'", "|", "¦", "\n", " ").Replace(printable.Text(value)) + "`" + more
}
