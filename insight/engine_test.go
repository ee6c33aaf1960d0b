package insight_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/insight/show"
)

var update = flag.Bool("update", false, "write the golden files")

// object is a resource's values.
type object = map[string]any

func today() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

func engine(t testing.TB) *insight.Engine {
	t.Helper()
	e, err := insight.NewEngine(rules.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// of makes the insight of a plan's JSON.
func of(t testing.TB, e *insight.Engine, raw []byte, o insight.Options) api.Insight {
	t.Helper()
	plan, err := facts.ReadBytes(raw, facts.Limits{Whole: len(o.Own) > 0})
	if err != nil {
		t.Fatal(err)
	}
	if o.Now.IsZero() {
		o.Now = today()
	}
	all, err := e.Of(t.Context(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// typical is a plan with something of everything.
func typical() []insighttest.Resource {
	open := object{"name": "web", "ingress": []any{object{"from_port": 22, "to_port": 22, "protocol": "tcp",
		"cidr_blocks": []string{"0.0.0.0/0"}}}}
	shut := object{"name": "web", "ingress": []any{}}
	db := func(class string, encrypted bool) object {
		return object{"engine": "mysql", "instance_class": class, "allocated_storage": 20, "storage_encrypted": encrypted,
			"availability_zone": "us-east-1a", "password": "correct-horse-battery", "deletion_protection": true,
			"enabled_cloudwatch_logs_exports": []string{"audit"}}
	}
	return []insighttest.Resource{
		{Address: "aws_instance.web", After: object{"instance_type": "t3.medium", "availability_zone": "us-east-1b",
			"metadata_options":  []any{object{"http_tokens": "required"}},
			"root_block_device": []any{object{"volume_size": 20, "volume_type": "gp3", "encrypted": true}}},
			Unknown: object{"id": true}},
		{Address: "aws_security_group.web_sg", Actions: []string{"update"}, Before: shut, After: open},
		{Address: "aws_db_instance.main", Actions: []string{"delete", "create"}, Before: db("db.t3.micro", false),
			After: db("db.t3.medium", true), Because: [][]string{{"storage_encrypted"}}, Sensitive: object{"password": true},
			DependsOn: []string{"aws_security_group.web_sg"}},
		{Address: "aws_ebs_volume.old", Actions: []string{"no-op"}, Before: object{"size": 8, "type": "gp3",
			"encrypted": false}, After: object{"size": 8, "type": "gp3", "encrypted": false}},
		{Address: "acme_thing.x", Actions: []string{"delete"}, Before: object{"name": "x"}},
	}
}

// TestBlocks holds what is written for each kind of reader.
func TestBlocks(t *testing.T) {
	all := of(t, engine(t), insighttest.JSON(typical()...), insight.Options{})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"typical.txt": func(b *bytes.Buffer) error { return show.Text(b, all) },
		"typical.md":  func(b *bytes.Buffer) error { return show.Markdown(b, all) },
		"typical.xml": func(b *bytes.Buffer) error { return show.JUnit(b, all) },
		"typical.sarif": func(b *bytes.Buffer) error {
			return show.SARIF(b, all, "plan.json", "0.0.0")
		},
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFactsOfAPlan(t *testing.T) {
	all := of(t, engine(t), insighttest.JSON(typical()...), insight.Options{})
	db := all.Facts.Changes[2]
	if db.Kind != "replace" || !cmp.Equal(db.Because, []string{"storage_encrypted"}) {
		t.Errorf("the database: %+v", db)
	}
	group := all.Facts.Changes[1]
	if group.Dependents != 1 || !cmp.Equal(group.DependedBy, []string{"aws_db_instance.main"}) {
		t.Errorf("what depends on the group: %+v", group)
	}
	if len(all.Facts.Irreversible) != 1 || all.Facts.Unknown != 1 || len(all.Facts.Changes) != 4 {
		t.Errorf("the facts: %+v", all.Facts)
	}
	if !all.Security.ShouldApprove || len(all.Security.Issues) != 1 {
		t.Errorf("security: %+v", all.Security)
	}
	if !cmp.Equal(all.Costs.Unpriced, []string{"acme_thing.x"}) || all.Costs.TotalMonthly != "$84.55" ||
		all.Costs.DeltaMonthly != "+$69.20" {
		t.Errorf("costs: %+v", all.Costs)
	}
	if n := len(strings.Fields(all.Summary)); n == 0 || n >= 200 {
		t.Errorf("the summary has %d words", n)
	}
}

// TestUnprotected: turning a protection off is a change that can't be taken for harmless, nor can one that is
// hidden.
func TestUnprotected(t *testing.T) {
	for _, sensitive := range []any{nil, object{"deletion_protection": true}} {
		all := of(t, engine(t), insighttest.JSON(insighttest.Resource{Address: "aws_db_instance.x",
			Actions: []string{"update"}, Sensitive: sensitive,
			Before: object{"deletion_protection": true}, After: object{"deletion_protection": false}}), insight.Options{})
		if len(all.Facts.Irreversible) != 1 || !strings.Contains(all.Facts.Irreversible[0].Reason, "deletion_protection") {
			t.Errorf("sensitive %v: %+v", sensitive, all.Facts.Irreversible)
		}
	}
}

// TestWaivers: one counts for its rule and resource until its day is over.
func TestWaivers(t *testing.T) {
	waivers, err := policy.ReadWaivers(strings.NewReader(`waivers:
  - {rule: HF-AWS-001, resource: "aws_security_group.*", owner: ann@example.com, reason: a bastion, expires: 2026-11-23}
`))
	if err != nil {
		t.Fatal(err)
	}
	raw, e := insighttest.JSON(typical()...), engine(t)
	if all := of(t, e, raw, insight.Options{Waivers: waivers}); all.Security.ShouldApprove ||
		len(all.Security.Issues) > 0 ||
		all.Findings[0].Waived == nil {
		t.Errorf("on its last day: %+v", all.Findings)
	}
	if all := of(t, e, raw, insight.Options{Waivers: waivers, Now: today().AddDate(0, 0,
		1)}); !all.Security.ShouldApprove {
		t.Errorf("on the day after: %+v", all.Findings)
	}
	for text, want := range map[string]string{
		"waivers: [{rule: R, resource: x, owner: o, expires: 2026-01-01}]":                      "it has no reason",
		"waivers: [{rule: R, resource: x, owner: o, reason: r, expires: never}]":                `it expires on "never"`,
		"waivers: [{rule: R, resource: x, owner: o, reason: r, expires: 2026-01-01, until: x}]": "until",
		"waivers: [{resource: x, owner: o, reason: r, expires: 2026-01-01}]":                    "it has no rule",
	} {
		if _, err := policy.ReadWaivers(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestHostileNames: what somebody called a resource stays a name, in whatever is written.
func TestHostileNames(t *testing.T) {
	name := "aws_ebs_volume.x[\"`) | @team <img src=x> [a](https://evil.example) \x1b[2J\n## Approved\n]]>\"]"
	all := of(t, engine(t), insighttest.JSON(insighttest.Resource{Address: name,
		After: object{"size": 1, "encrypted": false}}), insight.Options{})
	var text, markdown, junit, sarif bytes.Buffer
	if err := show.Text(&text, all); err != nil || strings.ContainsAny(text.String(), "\x1b") {
		t.Errorf("%v: %q", err, text.String())
	}
	if err := show.Markdown(&markdown, all); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(markdown.String()) {
		outside := ""
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				outside += part
			}
		}
		if strings.Contains(outside, "evil") || strings.Contains(outside, "@team") || strings.Contains(outside, "<img") ||
			strings.HasPrefix(line, "## A") {
			t.Errorf("the name does more than name: %s", line)
		}
	}
	if err := show.JUnit(&junit, all); err != nil || xml.Unmarshal(junit.Bytes(), new(struct{})) != nil {
		t.Errorf("%v: %s", err, junit.String())
	}
	if err := show.SARIF(&sarif, all, "p", "0"); err != nil || !json.Valid(sarif.Bytes()) {
		t.Errorf("%v: %s", err, sarif.String())
	}
}

// TestReadsNoPlan: what is no plan is the caller's fault.
func TestReadsNoPlan(t *testing.T) {
	for _, text := range []string{"", "{}", "[]", "PK", `{"format_version":"2.0"}`,
		`{"format_version":"1.2","resource_changes":{}}`, `{"format_version":"1.2","resource_changes":[1]}`,
		`{"format_version":"1.2","configuration":[]}`, `{"format_version":"1.2","configuration":{"root_module":3}}`,
		`{"format_version":"1.2","prior_state":{"values":{"root_module":{"resources":{}}}}}`,
		`{"format_version":"1.2","variables":{"a":3}}`, `{"format_version":"1.2","resource_changes":[`,
	} {
		if _, err := facts.ReadBytes([]byte(text), facts.Limits{}); err == nil ||
			!strings.HasPrefix(err.Error(), "plan_json_") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCutPlanNeedsApproval: what was not looked at is not taken for harmless.
func TestCutPlanNeedsApproval(t *testing.T) {
	plan, err := facts.ReadBytes(insighttest.JSON(typical()...), facts.Limits{Changes: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := engine(t).Of(t.Context(), plan, insight.Options{Now: today()})
	if err != nil || !all.Unread || !all.Security.ShouldApprove {
		t.Errorf("%v: %+v", err, all)
	}
}

// TestErroredPlanNeedsApproval: a plan that failed has not all changes.
func TestErroredPlanNeedsApproval(t *testing.T) {
	raw := bytes.Replace(insighttest.JSON(), []byte(`"errored":false`), []byte(`"errored":true`), 1)
	if all := of(t, engine(t), raw, insight.Options{}); !all.Unread || !all.Security.ShouldApprove || all.Cut {
		t.Errorf("%+v", all)
	}
}
