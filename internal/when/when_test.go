package when

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// plan is one that does something of everything.
func plan() Plan {
	return Plan{Create: 1, Update: 2, Replace: 3, Delete: 6, Irreversible: 1,
		Types: []string{"aws_iam_role", "aws_instance"},
		Total: 500, Delta: 99.5, High: 1}
}

func TestConditions(t *testing.T) {
	for text, want := range map[string]bool{
		"facts.delete > 5 || cost.delta > 100":                        true,
		"facts.delete > 6 || cost.delta > 100":                        false,
		"cost.delta > 99":                                             true,
		"cost.delta * 1.1 > 100.0 && findings.high > 0":               true,
		`"aws_iam_role" in facts.types`:                               true,
		`facts.types.exists(t, t.startsWith("google_"))`:              false,
		`facts.types.all(t, t.matches("^aws_.*$"))`:                   true,
		"facts.create + facts.update + facts.replace > 5":             true,
		"findings.critical > 0 || findings.broken > 0":                false,
		"facts.irreversible > 0 ? cost.total > 1000 : facts.move > 3": false,
		"true": true,
	} {
		c, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := c.Holds(t.Context(), plan()); err != nil || got != want {
			t.Errorf("%s: %t, %v", text, got, err)
		}
	}
}

// What can be known to be wrong is refused when it is compiled.
func TestWrongConditions(t *testing.T) {
	for text, says := range map[string]string{
		"":                            "Syntax error",
		"facts.delet > 5":             "undeclared reference",
		"facts > 5":                   "undeclared reference",
		"facts.delete":                "it is a int",
		"facts.delete >":              "Syntax error",
		"facts.types":                 "it is a list",
		`facts.delete > "5"`:          "no matching overload",
		"true\n":                      "one line",
		strings.Repeat("(", 900):      "",
		strings.Repeat("true&&", 400): "at most 1000 bytes",
		`getenv("HOME") == ""`:        "undeclared reference",
		"1/0 == 1 || now() == 3":      "undeclared reference",
	} {
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// One that can't be asked, or costs too much, is an error, and never no.
func TestConditionsThatBreak(t *testing.T) {
	many := plan()
	for i := range 5000 {
		many.Types = append(many.Types, fmt.Sprint(strings.Repeat("x", 50), i))
	}
	unknown := plan()
	unknown.Types = nil
	for text, about := range map[string]Plan{
		"facts.delete / facts.move > 1": plan(),
		"facts.types.exists(a, facts.types.exists(b, facts.types.exists(c, a + b + c == \"\")))": many,
		`"aws_iam_role" in facts.types`: unknown,
	} {
		c, err := Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, err := c.Holds(t.Context(), about); err == nil || got {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// FuzzCondition: whatever somebody writes is refused, or asked within its bounds.
func FuzzCondition(f *testing.F) {
	fuzzseeds.Add(f)
	for _, text := range []string{"facts.delete > 5 || cost.delta > 100", `facts.types.exists(t, t.matches("a*"))`,
		"[[1]][0][0] == 1",
		`{"a":1}.a == 1`, "1/0 == 1", `has({"a":1}.a)`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Compile(text)
		if err != nil {
			return
		}
		if holds, err := c.Holds(t.Context(), plan()); err != nil && holds {
			t.Errorf("it holds, and breaks: %v", err)
		}
	})
}
