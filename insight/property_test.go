package insight_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/show"
)

// example is a resource of the rules' own tests.
type example struct {
	Rule   string `json:"rule"`
	Type   string `json:"type"`
	Fails  object `json:"fails"`
	Passes object `json:"passes"`
}

func examples(t testing.TB) (list []example) {
	t.Helper()
	raw, err := os.ReadFile("rules/testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestUnrelatedResourceRemovesNothing: whatever else a plan has, a finding stays.
func TestUnrelatedResourceRemovesNothing(t *testing.T) {
	e, all := engine(t), examples(t)
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(all), 1, 5).Draw(r, "resources")
		more := rapid.SliceOfN(rapid.SampledFrom(all), 1, 5).Draw(r, "more")
		var few, many []insighttest.Resource
		for i, one := range some {
			few = append(few, insighttest.Resource{Address: fmt.Sprintf("%s.r%d", one.Type, i), After: one.Fails})
		}
		many = slices.Clone(few)
		for i, one := range more {
			values := one.Fails
			if rapid.Bool().Draw(r, "passes") {
				values = one.Passes
			}
			many = slices.Insert(many, rapid.IntRange(0, len(many)).Draw(r, "at"),
				insighttest.Resource{Address: fmt.Sprintf("%s.more%d", one.Type, i), After: values})
		}
		after := findings(of(t, e, insighttest.JSON(many...), insight.Options{}))
		for _, finding := range findings(of(t, e, insighttest.JSON(few...), insight.Options{})) {
			if !slices.Contains(after, finding) {
				r.Fatalf("%s is gone", finding)
			}
		}
	})
}

func findings(all api.Insight) (list []string) {
	for _, f := range all.Findings {
		list = append(list, f.Rule+" "+f.Resource+" "+f.Severity)
	}
	return list
}

// TestNothingSensitiveIsSaid: a value that is marked is nowhere in what is said of a plan, wherever
// else it stands, and whatever policies of somebody's own make of it.
func TestNothingSensitiveIsSaid(t *testing.T) {
	e, all := engine(t), examples(t)
	own := policies(t, `package main

deny contains msg if {
	some c in input.resource_changes
	some name, value in c.change.after
	msg := sprintf("%s: %v is %v", [c.address, name, value])
}
`)
	rapid.Check(t, func(r *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9+/]{16,40}`).Draw(r, "secret")
		one := rapid.SampledFrom(all).Draw(r, "resource")
		values := object{"secret_thing": secret, "user_data": "password=" + secret,
			"url": "postgres://u:" + secret + "@h/d"}
		for name, value := range one.Fails {
			values[name] = value
		}
		key := fmt.Sprintf("%s.x", one.Type)
		action := rapid.SampledFrom([][]string{{"create"}, {"update"}, {"delete", "create"}}).Draw(r, "actions")
		resource := insighttest.Resource{Address: key, Actions: action, After: values,
			Sensitive: object{"secret_thing": true},
			Because:   [][]string{{"secret_thing"}}}
		if len(action) != 1 || action[0] != "create" {
			resource.Before = values
		}
		said := of(t, e, insighttest.JSON(resource), insight.Options{Own: own})
		for what, text := range written(t, said) {
			if strings.Contains(text, secret) {
				r.Fatalf("the %s has the value %s", what, secret)
			}
		}
	})
}

// written is all that is written of an insight.
func written(t testing.TB, all api.Insight) map[string]string {
	t.Helper()
	texts := map[string]string{"summary": all.Summary}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	texts["JSON"] = string(raw)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return show.Text(b, all) },
		"Markdown": func(b *bytes.Buffer) error { return show.Markdown(b, all) },
		"JUnit":    func(b *bytes.Buffer) error { return show.JUnit(b, all) },
		"SARIF":    func(b *bytes.Buffer) error { return show.SARIF(b, all, "p", "0") },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		texts[name] = out.String()
	}
	return texts
}
