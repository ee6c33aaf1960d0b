package changes

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Renderer writes the lines of a tool's -json output as the text that people know from the tool
// without -json. A plan's lines have no values, so of each resource there is only the head of what
// the tool would print. What is no message of the tool's is written as it came.
type Renderer struct {
	w      io.Writer
	saved  bool
	lines  lines
	err    error
	began  bool // the list of planned changes
	drifts bool // the list of what drifted
	tool   string
}

// NewRenderer returns a Renderer that writes to w. saved is whether it is a saved plan that is
// applied: with -json the tools list its changes once more, without they don't.
func NewRenderer(w io.Writer, saved bool) *Renderer {
	return &Renderer{w: w, saved: saved, tool: "Terraform"}
}

// Write takes a piece of the output. The error is the first one of the writer below.
func (r *Renderer) Write(p []byte) (int, error) {
	r.lines.write(p, r.line)
	return len(p), r.err
}

// Close writes what is left of a last line without its end.
func (r *Renderer) Close() error {
	r.lines.end(r.line)
	return r.err
}

func (r *Renderer) printf(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.w, format, args...)
	}
}

func (r *Renderer) line(line []byte, cut bool) {
	m, ok := parseMessage(line)
	switch {
	case cut:
		r.printf("%s… (the rest of this line is left out)\n", line)
	case !ok:
		r.printf("%s\n", line)
	default:
		r.message(m)
	}
}

func (r *Renderer) message(m *message) {
	switch {
	case m.Type == typeVersion && m.OpenTofu != "":
		r.tool = "OpenTofu"
		r.printf("%s\n", m.Text)
	case m.Type == typeVersion && m.Engine != "":
		r.tool = "Holdfast"
		r.printf("%s\n", m.Text)
	case m.Type == typeRefreshComplete || m.Type == typeProvisionComplete || m.Type == typeProvisionErrored:
		// The tool says when it begins with these; a failure has its diagnostic.
	case r.saved && (m.Type == typePlannedChange || m.Type == typeResourceDrift):
	case m.Type == typeResourceDrift:
		if !r.drifts {
			r.printf("\nNote: Objects have changed outside of %s\n\n", r.tool)
		}
		r.drifts = true
		r.printf("  # %s\n", m.Text)
	case m.Type == typePlannedChange && m.Change != nil:
		if !r.began {
			r.printf("\n%s will perform the following actions:\n\n", r.tool)
		}
		r.began = true
		r.printf("  # %s\n", m.Change.sentence())
	case m.Type == typeChangeSummary:
		r.printf("\n%s\n", m.Text)
	case m.Type == typeOutputs:
		r.outputs(m.Outputs)
	case m.Type == typeProvisionProgress && m.Hook != nil:
		r.printf("%s (%s): %s\n", m.Hook.Resource.Address, m.Hook.Provisioner, m.Hook.Output)
	case m.Type == typeDiagnostic && m.Diagnostic != nil:
		diagnostic := m.Diagnostic.diagnostic()
		r.printf("%s", diagnostic.Text())
	default:
		r.printf("%s\n", m.Text)
	}
}

// sentence is how the tool heads the change of a resource.
func (c *plannedChange) sentence() string {
	address := c.Resource.Address
	switch c.Action {
	case "create":
		return address + " will be created"
	case "update":
		return address + " will be updated in-place"
	case "replace":
		return address + replaceSentence(c.Reason)
	case "delete":
		return address + " will be destroyed" + deleteReason(c.Reason)
	case "read":
		return address + " will be read during apply"
	case "import":
		return address + " will be imported"
	case "remove", "forget":
		return address + " will be removed from the state but will not be destroyed"
	case "move":
		if c.Previous != nil {
			return c.Previous.Address + " has moved to " + address
		}
	}
	return address + ": " + c.Action
}

func replaceSentence(reason string) string {
	switch reason {
	case "tainted":
		return " is tainted, so must be replaced"
	case "requested":
		return " will be replaced, as requested"
	case "replace_triggered_by":
		return " will be replaced due to changes in replace_triggered_by"
	}
	return " must be replaced"
}

func deleteReason(reason string) string {
	switch reason {
	case "delete_because_no_resource_config", "delete_because_no_module":
		return "\n  # (because it is not in configuration)"
	case "delete_because_wrong_repetition", "delete_because_count_index", "delete_because_each_key",
		"delete_because_enabled_false":
		return "\n  # (because its instance key is no longer in configuration)"
	case "delete_because_no_move_target":
		return "\n  # (because it was moved to where no configuration is)"
	}
	return ""
}

// outputs lists what a plan would do to outputs, or the values after an apply.
func (r *Renderer) outputs(outputs map[string]messageOutput) {
	names := slices.Sorted(maps.Keys(outputs))
	planned := slices.ContainsFunc(names, func(name string) bool { return outputs[name].Action != "" })
	if planned {
		names = slices.DeleteFunc(names, func(name string) bool { return outputs[name].Action == "noop" })
	}
	if len(names) == 0 {
		return
	}
	if !planned {
		r.printf("\nOutputs:\n\n")
		for _, name := range names {
			r.printf("%s = %s\n", name, outputText(outputs[name]))
		}
		return
	}
	r.printf("\nChanges to Outputs:\n")
	for _, name := range names {
		r.printf("  %s %s\n", symbol(outputs[name].Action), name)
	}
}

func outputText(output messageOutput) string {
	if output.Sensitive {
		return "<sensitive>"
	}
	return hclText(parseTree(output.Value), parseTree(output.Type), 0)
}

func symbol(action string) string {
	switch action {
	case "create":
		return "+"
	case "delete":
		return "-"
	}
	return "~"
}

// Text is the diagnostic as the tools print it where there are no colours.
func (d *Diagnostic) Text() string {
	var b strings.Builder
	b.WriteString("\n")
	switch d.Severity {
	case "error":
		b.WriteString("Error: ")
	case "warning":
		b.WriteString("Warning: ")
	}
	b.WriteString(d.Summary + "\n\n")
	if d.Address != "" {
		b.WriteString("  with " + d.Address + ",\n")
	}
	d.writeSource(&b)
	if d.Detail != "" {
		b.WriteString(strings.TrimSuffix(d.Detail, "\n") + "\n")
	}
	return b.String()
}

func (d *Diagnostic) writeSource(b *strings.Builder) {
	if d.File == "" {
		return
	}
	fmt.Fprintf(b, "  on %s line %d", d.File, d.Line)
	if d.Context != "" {
		b.WriteString(", in " + d.Context)
	}
	b.WriteString(":\n")
	if d.Code == "" {
		b.WriteString("  (source code not available)\n\n")
		return
	}
	for i, line := range strings.Split(d.Code, "\n") {
		fmt.Fprintf(b, "%4d: %s\n", d.CodeLine+i, line)
	}
	if len(d.Values) > 0 {
		b.WriteString("    ├────────────────\n")
		for _, value := range slices.Sorted(slices.Values(d.Values)) {
			b.WriteString("    │ " + value + "\n")
		}
	}
	b.WriteString("\n")
}
