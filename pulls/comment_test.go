package pulls_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/repos/forge"
)

// limits are those of the providers, as they differ.
func limits() []forge.Limits {
	return []forge.Limits{{Comment: 65536, Folds: true, HTMLHidden: true}, {Comment: 32768}}
}

// named is a pull request in which names are whatever somebody wrote.
func named(name string, changes int) (pulls.Pull, pulls.Words) {
	p := planned()
	p.Trouble = name
	p.Plans[1].Status, p.Plans[1].Reason = pulls.Failed, name
	p.Plans[0].Apply = &pulls.Apply{By: forge.User{ID: "1", Login: name}, Status: pulls.Failed, Reason: name}
	p.Answers = []pulls.Answer{{By: name, Command: "holdfast plan " + name, Text: "refused: `holdfast plan`"}}
	insight := &api.Insight{Summary: "**1 to add.**"}
	changed := &api.RunChanges{Counts: api.RunCounts{Any: true}}
	value, _ := json.Marshal(map[string]string{name: name})
	quoted, _ := json.Marshal(name)
	for range changes {
		changed.Changes = append(changed.Changes, api.RunChange{Address: name, Actions: []string{"update"},
			Before: json.RawMessage(`{"a":1}`), After: value})
		changed.Outputs = append(changed.Outputs, api.RunOutputChange{Name: name, Actions: []string{"create"}, After: quoted})
		insight.Facts.Changes = append(insight.Facts.Changes, api.InsightChange{Address: name, Kind: "create",
			Because: []string{name}})
		insight.Findings = append(insight.Findings, api.InsightFinding{Severity: "high", Rule: name,
			Link:     "https://docs.example/rule",
			Resource: name, Description: name, Recommendation: name})
		insight.Costs.Estimated = append(insight.Costs.Estimated, api.InsightCost{Resource: name, Source: name})
	}
	return p, pulls.Words{Settings: pulls.Settings{Plan: "write"},
		Link:    func(run string) string { return "https://holdfast.example/ui/runs/" + run },
		Insight: func(string) *api.Insight { return insight },
		Changes: func(string) *api.RunChanges { return changed }}
}

// shape is a comment without what stands between the marks that only our own text has.
func shape(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		code := strings.Count(line, "`")
		pipes := len(regexp.MustCompile(`(^|[^\\])\|`).FindAllString(line, -1))
		bare := regexp.MustCompile("`[^`]*`").ReplaceAllString(line, "")
		tags := strings.Join(regexp.MustCompile(`</?[a-z]+>`).FindAllString(bare, -1), "")
		lines = append(lines, fmt.Sprintf("%d %d %s", code, pipes, tags))
	}
	return strings.Join(lines, "\n")
}

// Whatever somebody calls their resources, branches and themselves, the comment is built as with a plain
// name: no cell, code, fold or line ends early, nobody is mentioned, and nothing leads elsewhere.
func TestNamesAreText(t *testing.T) {
	parts := []string{"`", "```", "|", "\\", "\\|", "\n", "\r", "@team", "@acme/team", "<", ">", "<!--", "-->",
		"</details>", "<img src=x>", "[a](https://evil.example)", "![a](//evil.example/x.png)", "https://evil.example",
		"www.evil.example", "#1", "!1", "~1", "/merge", "/close", "&lt;", "&#64;team", "holdfast apply", "*", "_", "**", "~~",
		"$x$", "\x1b[2J", "\u202e", "ü", "😀", " ", "x", "---", "## H", "- ", "1. ", "[x]: y", "<script>", ":"}
	rapid.Check(t, func(r *rapid.T) {
		name := "n" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(r, "parts"), "")
		if rapid.Bool().Draw(r, "begins so") {
			name = strings.TrimPrefix(name, "n") + "n"
		}
		for _, limit := range limits() {
			p, w := named(name, 2)
			text := p.Text(w, limit)
			plain, words := named("name", 2)
			if got, want := shape(text), shape(plain.Text(words, limit)); got != want {
				r.Fatalf("%q changes what the comment is:\n%s\n--- not\n%s\n---\n%s", name, got, want, text)
			}
			checkText(r, text)
		}
	})
}

func checkText(r *rapid.T, text string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " -*>|"), "/") || strings.HasPrefix(line, "holdfast ") {
			r.Fatalf("a command of the forge's, or ours: %q", line)
		}
		outside := ""
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				outside += part
			}
		}
		for _, bad := range []string{`@[\w]`, `[^&\\]#\d`, `<(img|script|!--|a)`, `[^:(]https?://evil`, `\(https?://evil`,
			`(^|[^\\])\]\(//`, `\bwww\.`} {
			if found := regexp.MustCompile(bad).FindString(outside); found != "" {
				r.Fatalf("%q in %q", found, line)
			}
		}
	}
}

func TestCommentsFit(t *testing.T) {
	for _, limit := range limits() {
		p, w := named(strings.Repeat("😀|", 90), 200)
		var layers []string
		for i := range 100 {
			layers = append(layers, fmt.Sprintf("envs/%03d/%s", i, strings.Repeat("l", 200)))
		}
		p = pulls.Pull{}.See(at(one)).Affects(layers, true)
		for i := range p.Plans {
			p.Plans[i].Run = fmt.Sprint("RUN", i)
			p.Plans[i] = p.Plans[i].Planned(pulls.RunFact{Ended: true, Good: true, Digest: "abcdef0123456789",
				Counts: &api.RunCounts{Add: 1, Any: true}})
		}
		text := p.Text(w, limit)
		if n := len(utf16.Encode([]rune(text))); n > limit.Comment-100 {
			t.Errorf("%d of %d", n, limit.Comment)
		}
		for _, want := range []string{"Too long for a comment", "](https://holdfast.example/ui/runs/RUN", "holdfast plan"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q", want)
			}
		}
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
			t.Error("a fold does not end")
		}
	}
}

func TestTextOfAFork(t *testing.T) {
	p := pulls.Pull{}.See(fork(one)).Affects([]string{"a"}, false)
	text := p.Text(pulls.Words{Settings: pulls.Settings{Plan: "write"}}, limits()[0])
	if !strings.Contains(text, "comment `holdfast plan "+one[:12]+"`") {
		t.Error(text)
	}
	s := p.StatusOf(p.Plans[0], pulls.Settings{Plan: "write"}, "")
	if s.State != forge.Pending || !strings.Contains(s.Description, "fork") {
		t.Errorf("%+v", s)
	}
}

// The values of a plan stand in the comment where there is room, what is sensitive does not, and what is left out is
// counted.
func TestValuesInComments(t *testing.T) {
	change := func(address, before, after string) api.RunChange {
		return api.RunChange{Address: address, Actions: []string{"update"}, Before: json.RawMessage(before),
			After: json.RawMessage(after)}
	}
	all := api.RunChanges{Counts: api.RunCounts{Any: true, Change: 2}, Changes: []api.RunChange{
		change("aws_instance.web", `{"ami":"ami-1","tags":{"a":1},"gone":true}`, `{"ami":"ami-2","tags":{"a":1}}`),
		change("aws_db.main", `{"password":"(sensitive)"}`, `{"password":"(sensitive)"}`),
	}, Outputs: []api.RunOutputChange{{Name: "token", Actions: []string{"update"}, Sensitive: true,
		Before: json.RawMessage(`"hidden"`), After: json.RawMessage(`"hidden too"`)}}}
	p, w := named("name", 0)
	w.Changes = func(string) *api.RunChanges { return &all }
	for _, limit := range limits() {
		text := p.Text(w, limit)
		for _, want := range []string{"- update `aws_instance.web`\n  - `ami`: `\"ami-1\"` → `\"ami-2\"`\n  - `gone`: `true` → nothing\n",
			"- update `aws_db.main`, in what is not shown\n", "- update output `token`: `(sensitive)`\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, "hidden") || strings.Contains(text, "tags") {
			t.Errorf("it shows what it is not to:\n%s", text)
		}
	}
	for i := range 3000 {
		all.Changes = append(all.Changes, change(fmt.Sprintf("a.b%04d", i), `{"x":1}`, `{"x":2}`))
	}
	for _, limit := range limits() {
		text := p.Text(w, limit)
		listed := strings.Count(text, "- update `")
		if n := len(utf16.Encode([]rune(text))); n > limit.Comment-100 || listed < 100 {
			t.Errorf("%d of %d, with %d changes", n, limit.Comment, listed)
		}
		if want := fmt.Sprintf("- and %d more, on the page of the run\n", 3003-listed); !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}
