package show

import (
	"strings"

	"github.com/holdfast/holdfast/api"
)

// model writes what a language model says, as its own words.
func (b *block) model(said *api.InsightModel) {
	if said == nil {
		return
	}
	b.line("")
	if said.Error != "" {
		b.line("The model %s has said nothing: %s.", cut(said.Model), cut(said.Error))
		return
	}
	b.line("The model %s says, which is no fact:", cut(said.Model))
	for line := range strings.Lines(said.Summary) {
		if line = strings.TrimSpace(line); line != "" {
			b.line("  %s", cut(line))
		}
	}
	for _, f := range said.Findings {
		b.line("  [%s] %s — %s. %s", strings.ToUpper(cut(f.Severity)), cut(f.Resource),
			cut(strings.TrimSuffix(f.Description, ".")),
			cut(f.Recommendation))
	}
	for _, c := range said.Costs {
		b.line("  %s %s/mo, with %s confidence", cut(c.Resource), cut(c.MonthlyCost), cut(c.Confidence))
	}
}

// modelList writes the same in Markdown.
func (b *block) modelList(said *api.InsightModel) {
	if said.Error != "" {
		b.line("It has said nothing: %s.", Plain(said.Error))
		return
	}
	b.line("%s\n", Plain(said.Summary))
	for _, f := range said.Findings {
		b.line("- %s, %s: %s. %s", Plain(f.Severity), Code(f.Resource), Plain(strings.TrimSuffix(f.Description, ".")),
			Plain(f.Recommendation))
	}
	for _, c := range said.Costs {
		b.line("- %s: %s per month, with %s confidence", Code(c.Resource), Plain(c.MonthlyCost), Plain(c.Confidence))
	}
}
