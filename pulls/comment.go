package pulls

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/show"
	"github.com/holdfast/holdfast/repos/forge"
)

// Words is what a comment is made of beside the pull request itself.
type Words struct {
	Settings Settings
	// Link is the page of a run; it returns nothing where the server's address is not known.
	Link func(run string) string
	// Insight is what a run's plan means; nil where that is not known.
	Insight func(run string) *api.Insight
	// Changes is what a run's plan changes; nil where that is not known.
	Changes func(run string) *api.RunChanges
}

// reserve is what a comment has left for its marker and the end of a cut.
const reserve = 700

// Text is what the pull request's comment says, in Markdown, within what the forge takes. What does
// not fit is left out, with a link to the whole.
func (p Pull) Text(w Words, limits forge.Limits) string {
	room := limits.Comment - reserve
	head, foot := p.heading(w, room/2), p.foot(w)
	room -= size(head) + size(foot)
	var parts []part
	var left []Plan
	for _, plan := range p.Plans {
		if plan.Status != Done || plan.Commit != p.At.Head || w.Insight == nil {
			continue
		}
		insight := w.Insight(plan.Run)
		if insight == nil {
			continue
		}
		one := section(plan, *insight, limits.Folds)
		if room < one.size() {
			left = append(left, plan)
			continue
		}
		room -= one.size()
		parts = append(parts, one)
	}
	// What all plans mean goes before the values of any.
	without := 0
	var text strings.Builder
	for _, one := range parts {
		values, all := w.values(one.run, limits.Folds, room)
		room -= size(values)
		if !all {
			without++
		}
		text.WriteString(one.head + values + one.end)
	}
	if without > 0 {
		fmt.Fprintf(&text, "\nThe values of %d plans are too long for a comment: the pages of their runs have them.\n", without)
	}
	return head + text.String() + leftOut(left, w) + foot
}

// values is what a run's plan changes, with values, as far as it fits; it is not all where not even one change does.
func (w Words) values(run string, folds bool, room int) (text string, all bool) {
	if w.Changes == nil {
		return "", true
	}
	changes := w.Changes(run)
	if changes == nil {
		return "", true
	}
	text = show.Values(*changes, folds, room, size)
	return text, text != "" || !changes.Counts.Any
}

// part is what a comment says of one plan, in the two pieces between which its values come.
type part struct{ run, head, end string }

func (p part) size() int { return size(p.head) + size(p.end) }

// size is how much of a comment a text takes, in the unit that no forge counts more of.
func size(text string) int { return len(utf16.Encode([]rune(text))) }

// heading is the title and the table of layers.
func (p Pull) heading(w Words, room int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Plans at `%s`\n\n", short(p.At.Head))
	if may, why := p.MayRun(w.Settings); !may && p.At.State == forge.Open {
		fmt.Fprintf(&b, "**Nothing is planned:** %s.\n\n", why)
	}
	if p.Looked == p.At.Head && len(p.Plans) == 0 {
		b.WriteString("No layer is affected.\n\n")
	}
	if p.Lacks > 0 && p.Looked == p.At.Head && len(p.Plans) > 0 {
		b.WriteString(p.lag(w.Settings))
	}
	if len(p.Plans) > 0 {
		b.WriteString("| Layer | Plan | Changes |\n|---|---|---|\n")
	}
	for i, plan := range p.Plans {
		row := plan.row(p, w)
		if size(b.String())+size(row) > room {
			fmt.Fprintf(&b, "\nAnd %d more layers.\n", len(p.Plans)-i)
			break
		}
		b.WriteString(row)
	}
	if p.Left > 0 {
		fmt.Fprintf(&b, "\n**%d layers more are affected and not planned:** at most %d of a pull request are.\n", p.Left,
			maxLayers)
	}
	if p.Every {
		b.WriteString("\nThe forge does not list all files of this pull request, so each layer is planned.\n")
	}
	return b.String()
}

// lag says how far the head is behind its base, and what is planned therefore.
func (p Pull) lag(s Settings) string {
	text := fmt.Sprintf("It lacks %d commits of %s. ", p.Lacks, show.Plain(p.At.BaseRef))
	if p.Lacks == 1 {
		text = fmt.Sprintf("It lacks a commit of %s. ", show.Plain(p.At.BaseRef))
	}
	switch {
	case p.Onto != "":
		text += "What a merge would give is planned."
	case s.HeadAlone:
		text += "The head alone is planned, by the repository's settings."
	default:
		text += "The two don't merge by themselves (" + show.Code(p.Apart) + "), so the head alone is planned."
	}
	return text + "\n\n"
}

func (p Plan) row(of Pull, w Words) string {
	name := show.Code(p.Layer)
	if link := linkTo(w, p.Run); link != "" {
		name = "[" + name + "](" + link + ")"
	}
	status, changes := string(p.Status), ""
	switch {
	case p.Status == Stale:
		status = "**stale**: it is of `" + short(p.Commit) + "`"
	case p.Status == Done:
		status = "planned, `" + short(p.Digest) + "`"
	case p.Reason != "":
		status += ": " + show.Plain(p.Reason)
	}
	if p.Counts != nil {
		changes = countsOf(p.Counts)
	}
	if p.Behind != "" && p.Status != Stale {
		status += "; **behind " + show.Plain(of.At.BaseRef) + "**, which has changed " + show.Code(p.Behind) +
			": this would undo that"
	}
	if a := p.Apply; a != nil {
		status += "; apply by " + show.Plain(a.By.Login) + ": " + string(a.Status)
		if a.Reason != "" {
			status += ", " + show.Plain(a.Reason)
		}
		if link := linkTo(w, a.Run); link != "" {
			status += " ([run](" + link + "))"
		}
	}
	return "| " + name + " | " + status + " | " + changes + " |\n"
}

// countsOf is what a plan changes, in a line.
func countsOf(c *api.RunCounts) string {
	if c == nil || !c.Any {
		return "No changes."
	}
	return show.Counts(*c)
}

func linkTo(w Words, run string) string {
	if run == "" || w.Link == nil {
		return ""
	}
	return w.Link(run)
}

// section is what one plan means.
func section(plan Plan, insight api.Insight, folds bool) part {
	var b bytes.Buffer
	end := ""
	if folds {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", show.HTML(plan.Layer))
	} else {
		fmt.Fprintf(&b, "\n### %s\n\n", show.Code(plan.Layer))
	}
	_ = show.MarkdownAs(&b, insight, show.Manner{Folds: folds}) // a buffer takes everything
	if folds {
		end = "\n</details>\n"
	}
	return part{plan.Run, b.String(), end}
}

// maxLeft is how many layers are named whose plans did not fit.
const maxLeft = 3

func leftOut(left []Plan, w Words) string {
	if len(left) == 0 {
		return ""
	}
	var names []string
	for _, plan := range left[:min(len(left), maxLeft)] {
		name := show.Code(forge.Cut(plan.Layer, 40))
		if link := linkTo(w, plan.Run); link != "" && len(link) < 100 {
			name = "[" + name + "](" + link + ")"
		}
		names = append(names, name)
	}
	if len(left) > maxLeft {
		names = append(names, "the others of the table")
	}
	return "\nToo long for a comment: " + strings.Join(names, ", ") + ".\n"
}

// foot is what became of commands, and which there are.
func (p Pull) foot(w Words) string {
	var b strings.Builder
	for _, a := range p.Answers {
		fmt.Fprintf(&b, "\n- %s: %s — %s", show.Plain(a.By), show.Command(a.Command), plainAnswer(a.Text))
	}
	if len(p.Answers) > 0 {
		b.WriteString("\n")
	}
	if p.Trouble != "" {
		fmt.Fprintf(&b, "\nThe last look did not get to its end: %s\n", show.Plain(p.Trouble))
	}
	if p.At.State == forge.Open && !w.Settings.Off() {
		b.WriteString("\nTo plan again: `holdfast plan`")
		if w.Settings.Apply != "" && slices.ContainsFunc(p.Plans, func(plan Plan) bool { return plan.Status == Done }) {
			b.WriteString(", to apply: `holdfast apply`, each with a layer behind it or without")
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// plainAnswer keeps the code that our own words have.
func plainAnswer(text string) string {
	parts := strings.Split(text, "`")
	for i, part := range parts {
		if i%2 == 1 {
			parts[i] = show.Command(part)
		} else if part != "" {
			lead, trail := part[:len(part)-len(strings.TrimLeft(part, " "))], part[len(strings.TrimRight(part, " ")):]
			parts[i] = lead + show.Plain(part) + trail
		}
	}
	return strings.Join(parts, "")
}
