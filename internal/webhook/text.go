package webhook

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/links"
)

const (
	// mostQuoted is how much of what somebody wrote stands in the text, in characters.
	mostQuoted = 300
	// mostText keeps the text within what chats take: Discord has 2,000 characters.
	mostText = 1900
)

// textOf says in sentences what happened, for a chat: who, what and where, what can be typed, and
// a link. What callers wrote stands in it as code, so that it is no mention, no link and no markup.
func textOf(n notice) string {
	lines := []string{strings.TrimSpace(cmp.Or(n.OrgName, n.Org) + ": " + happened(n))}
	if n.Reason != "" {
		lines = append(lines, "Reason: "+quoted(n.Reason))
	}
	if by := cmp.Or(n.KeyName, n.Subject, n.KeyID); by != "" && by != audit.Server().KeyID {
		lines = append(lines, "By "+quoted(by)+from(n.Address))
	}
	if len(n.Commands) > 0 {
		lines = append(lines, "```\n"+strings.Join(n.Commands, "\n")+"\n```")
	}
	if n.Link != "" {
		lines = append(lines, n.Link)
	}
	return cut(strings.Join(lines, "\n"), mostText)
}

func from(address string) string {
	if address == "" {
		return ""
	}
	return " from " + quoted(address)
}

// happened is one sentence about what was done.
func happened(n notice) string {
	state := quoted(n.State)
	switch n.Action {
	case audit.CandidateHold:
		id, findings, _ := strings.Cut(n.Note, ": ")
		return fmt.Sprintf("a guard kept a write of %s back (%s) as candidate %s. Nothing is lost; somebody has to decide.",
			state, plain(findings), plain(id))
	case audit.CandidateFence:
		return fmt.Sprintf("a run that may not write any more wrote %s; it is kept as candidate %s.", state, plain(n.Note))
	case audit.LockTakeOver:
		return fmt.Sprintf("the lock of %s was taken over from %s, who gave no sign of life.", state, quoted(n.Note))
	case audit.LockForce:
		return fmt.Sprintf("the lock of %s, which %s held, was forced open.", state, quoted(n.Note))
	case audit.RunWait:
		_, asked, _ := strings.Cut(n.Note, ": ") // behind the run, which the link leads to
		return fmt.Sprintf("a plan of %s waits for people: %s", state, quoted(cmp.Or(asked, n.Note)))
	case audit.StateWrite:
		if n.Note != "" {
			return fmt.Sprintf("version %d of %s was accepted, and looks wrong: %s.", n.Version, state, plain(n.Note))
		}
		return fmt.Sprintf("version %d of %s was written.", n.Version, state)
	}
	text := string(n.Action)
	if n.State != "" {
		text += " of " + state
	}
	if n.Note != "" {
		text += ": " + quoted(n.Note)
	}
	return text
}

// quoted is what somebody wrote, as code.
func quoted(text string) string {
	if text = cut(plain(text), mostQuoted); text == "" {
		return "somebody"
	}
	return "`" + text + "`"
}

// plain takes out what has a meaning to a chat or to a terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '<':
			return '‹' // Slack's mentions, also in code
		case r == '>':
			return '›'
		case r == '`':
			return '\''
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return ' '
		}
		return r
	}, text)
}

func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// linkTo is the page of what the event is about, and of the run that it is about where there is one.
func linkTo(site links.Site, e audit.Event) string {
	switch {
	case e.Run() != "":
		return site.Run(e.Run())
	case e.State == "":
		return site.Audit("", string(e.Action))
	case e.Action == audit.CandidateHold, e.Action == audit.CandidateFence:
		return site.Candidates(e.State)
	case e.Action == audit.StateWrite && e.Version > 0:
		return site.Version(e.State, e.Version)
	}
	return site.Audit(e.State, "")
}
