package pulls

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/repos/forge"
)

// Command is what a comment asks for.
type Command struct {
	Verb  string // plan or apply
	Layer string // empty for all
	// Digest begins the digest of the plan that is to be applied, empty for the one that the comment shows;
	// or the name of the commit that is to be planned, which a fork's needs.
	Digest string
}

// String is the command as it is written.
func (c Command) String() string {
	return strings.Join(slices.DeleteFunc([]string{"holdfast", c.Verb, c.Layer, c.Digest},
		func(s string) bool { return s == "" }), " ")
}

// minDigest is how much of a digest has to be given, if any.
const minDigest = 8

// ParseCommand reads a comment. A command is all that its first line says, in any case and with or without backticks
// around it: what is quoted, or said in passing, is none.
func ParseCommand(body string) (Command, bool) {
	words := addressed(body)
	if len(words) < 2 || len(words) > 4 {
		return Command{}, false
	}
	c := Command{Verb: strings.ToLower(words[1])}
	if c.Verb != "plan" && c.Verb != "apply" {
		return Command{}, false
	}
	for _, word := range words[2:] {
		switch digest := strings.ToLower(word); {
		case c.Digest == "" && isDigest(digest):
			c.Digest = digest
		case c.Layer == "" && c.Digest == "" && len(word) <= 255:
			c.Layer = word
		default:
			return Command{}, false
		}
	}
	return c, true
}

// addressed are the words of a comment's first line, where it is one to us; nil where it is not.
func addressed(body string) []string {
	line, _, _ := strings.Cut(strings.TrimLeft(body, "\r\n"), "\n")
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "```") {
		return nil
	}
	line = strings.TrimSpace(line)
	if inner, quoted := strings.CutPrefix(line, "`"); quoted {
		if inner, quoted = strings.CutSuffix(inner, "`"); quoted && !strings.Contains(inner, "`") {
			line = inner
		}
	}
	words := strings.Fields(line)
	if len(words) == 0 || !strings.EqualFold(words[0], "holdfast") {
		return nil
	}
	return words
}

// help is what becomes of a comment that begins with holdfast and is no command.
const help = "that is no command; there are `holdfast plan` and `holdfast apply`, each with a layer behind it or without"

func isDigest(word string) bool {
	return len(word) >= minDigest && len(word) <= 64 && strings.Trim(word, "0123456789abcdef") == ""
}

// What is kept of comments and of answers.
const (
	maxObeyed  = 500
	maxAnswers = 5
)

// Fresh are the comments that were not looked at yet, in their order.
func (p Pull) Fresh(all []forge.Comment) (fresh []forge.Comment) {
	for _, c := range all {
		if !slices.Contains(p.Obeyed, c.ID) && !c.Created.Before(p.Since) {
			fresh = append(fresh, c)
		}
	}
	return fresh
}

// Looked takes down that a comment was looked at: it is not obeyed again, whatever it is changed to.
func (p Pull) looked(c forge.Comment) Pull {
	p.Obeyed = append(slices.Clone(p.Obeyed), c.ID)
	if over := len(p.Obeyed) - maxObeyed; over > 0 {
		p.Obeyed = p.Obeyed[over:]
		p.Since = c.Created // what is older was looked at
	}
	return p
}

// Obey is what a comment makes of the pull request. may is what its author may do at the forge. A
// comment is obeyed once, or refused once.
func (p Pull) Obey(c forge.Comment, may forge.Permission, s Settings, now time.Time) Pull {
	command, ok := ParseCommand(c.Body)
	if slices.Contains(p.Obeyed, c.ID) {
		return p
	}
	p = p.looked(c)
	if s.Off() {
		return p
	}
	if !ok {
		return p.helped(c, now)
	}
	answer := func(format string, args ...any) Pull {
		p.Answers = append(slices.Clone(p.Answers), Answer{Comment: c.ID, By: c.Author.Login, Command: command.String(),
			Text: fmt.Sprintf(format, args...), At: now})
		p.Answers = p.Answers[max(0, len(p.Answers)-maxAnswers):]
		return p
	}
	needs, why := s.planNeeds(), ""
	if command.Verb == "apply" {
		needs, why = need(s.Apply, forge.None), noApplies
	}
	switch {
	case c.Edited:
		return answer("refused: the comment was edited, so somebody else may have written it")
	case needs == forge.None:
		return answer("refused: %s", why)
	case may < needs:
		return answer("refused: who comments so needs the permission %s at the forge", needs)
	case p.At.State != forge.Open:
		return answer("refused: the pull request is %s", p.At.State)
	case p.Looked != p.At.Head:
		return answer("refused: the pull request has just moved; look at it as it is now, and comment again")
	case command.Layer != "" && p.plan(command.Layer) < 0:
		return answer("refused: the pull request does not affect a layer of this name")
	}
	if command.Verb == "plan" {
		return p.planAgain(c, command, s, now, answer)
	}
	return p.apply(c, command, s, answer)
}

// helped answers what begins as a command and is none: once, and of several only the newest.
func (p Pull) helped(c forge.Comment, now time.Time) Pull {
	words := addressed(c.Body)
	if words == nil || p.At.State != forge.Open || c.ID == p.Comment {
		return p
	}
	p.Answers = slices.DeleteFunc(slices.Clone(p.Answers), func(a Answer) bool { return a.Text == help })
	p.Answers = append(p.Answers, Answer{Comment: c.ID, By: c.Author.Login,
		Command: forge.Cut(strings.Join(words, " "), 100), Text: help, At: now})
	p.Answers = p.Answers[max(0, len(p.Answers)-maxAnswers):]
	return p
}

type answering func(format string, args ...any) Pull

// planAgain allows a fork's head, and has plans made anew that have ended. Who allows a commit names it:
// another one may have come while they wrote.
func (p *Pull) planAgain(c forge.Comment, command Command, s Settings, now time.Time, answer answering) Pull {
	if command.Digest != "" && !strings.HasPrefix(p.At.Head, command.Digest) {
		return answer("refused: the pull request is at another commit, %s", short(p.At.Head))
	}
	if p.At.Fork && p.Allowed == nil {
		if command.Digest == "" {
			return answer("refused: it comes from a fork, so say which commit you have looked at: `%s %s`",
				strings.ReplaceAll(command.String(), "`", "'"), short(p.At.Head))
		}
		p.Allowed = &Allowed{Commit: p.At.Head, By: c.Author, Comment: c.ID, At: now}
	}
	if may, why := p.MayRun(s); !may {
		return answer("refused: %s", why)
	}
	p.Plans = slices.Clone(p.Plans)
	begun := 0
	for i, plan := range p.Plans {
		if plan.Commit != p.At.Head || command.Layer != "" && plan.Layer != command.Layer || plan.applying() {
			continue
		}
		if plan.Run == "" {
			begun++
		} else if plan.Status.Ended() {
			p.Plans[i] = plan.anew(p.Onto)
			p.Plans[i].Behind = plan.Behind
			if plan.Onto != p.Onto {
				p.Compared = "" // its Behind is to be of something else
			}
			begun++
		}
	}
	return answer("%d to plan", begun)
}

// apply asks for applies of plans that have ended well, of this very head.
func (p *Pull) apply(c forge.Comment, command Command, s Settings, answer answering) Pull {
	if may, why := p.MayRun(s); !may {
		return answer("refused: %s", why)
	}
	var chosen []int
	for i, plan := range p.Plans {
		if plan.Commit == p.At.Head && (command.Layer == "" || plan.Layer == command.Layer) &&
			(command.Digest == "" || plan.Digest != "" && strings.HasPrefix(plan.Digest, command.Digest)) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) == 0 && command.Digest == "" {
		return answer("refused: no layer is planned")
	}
	if len(chosen) == 0 {
		return answer("refused: there is no plan of this digest; look at those that there are")
	}
	for _, i := range chosen {
		if may, why := p.mayApplyPlan(p.Plans[i], s); !may {
			return answer("refused: %s", strings.ReplaceAll(why, "`", "'"))
		}
		if plan := p.Plans[i]; plan.Status != Done {
			return answer("refused: there is no plan yet of each layer that this is about")
		}
	}
	p.Plans = slices.Clone(p.Plans)
	asked := 0
	for _, i := range chosen {
		plan := &p.Plans[i]
		if plan.Counts == nil || !plan.Counts.Any || plan.Apply != nil && (!plan.Apply.Status.Ended() ||
			plan.Apply.Status == Done) {
			continue
		}
		plan.Apply = &Apply{By: c.Author, Comment: c.ID, Status: Waiting}
		asked++
	}
	if asked == 0 {
		return answer("there is nothing to apply")
	}
	return answer("%d to apply", asked)
}

// short is a commit or a digest as people read it.
func short(name string) string { return name[:min(len(name), 12)] }
