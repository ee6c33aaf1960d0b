package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
)

// wantText compares a text with the file of this name, which for the texts of the projects'
// document was taken from there.
func wantText(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", "infra", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (-want +have):\n%s", path, diff)
	}
}

// unpainted is the painter of what is no terminal, painted that of one.
func unpainted(_, text string) string { return text }

func painted(code, text string) string { return "<" + code + ">" + text + "</>" }

// exampleFiles are those of the document.
func exampleFiles() []projectFile {
	return compareProject(map[string]string{"main.tf": "1", "variables.tf": "2", "outputs.tf": "3"},
		map[string]string{"main.tf": "0", "variables.tf": "2", "provider.tf": "4"})
}

func exampleChanges() []plannedChange {
	create := []string{"create"}
	return []plannedChange{
		{address: "aws_s3_bucket.data", actions: []string{"update"}, keys: []string{"tags"}},
		{address: "aws_instance.web", actions: create}, {address: "aws_security_group.web_sg", actions: create},
		{address: "data.aws_ami.newest", actions: []string{"read"}},
		{address: "aws_eip.web_ip", actions: create}, {address: "aws_vpc.main", actions: []string{"no-op"}},
	}
}

const exampleInsight = `{"summary":"A server and its address.","costs":{
	"estimated":[{"resource":"aws_instance.web","monthlyCost":"$34.56","source":"AWS pricing"},
		{"resource":"aws_eip.web_ip","monthlyCost":"3.60","source":"AWS pricing"}],
	"aiEstimated":[{"resource":"aws_s3_bucket.data","monthlyCost":"$9.04/mo","confidence":"high"}],
	"totalMonthly":"$47.20","deltaMonthly":"$32.40"},
	"security":{"shouldApprove":true,"issues":[{"severity":"high","resource":"aws_security_group.web_sg",
		"description":"ingress allows 0.0.0.0/0 on port 22",
		"recommendation":"restrict SSH access to known IP ranges"}]}}`

func insightOf(t *testing.T, text string) *api.ProjectInsight {
	t.Helper()
	var found api.ProjectInsight
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	return &found
}

// otherChanges have every kind of change, and names that try something.
func otherChanges() []plannedChange {
	return []plannedChange{
		{address: "aws_db.old", actions: []string{"delete"}},
		{address: "aws_db.new", actions: []string{"delete", "create"}},
		{address: "aws_db.\x1b[31mred", actions: []string{"create", "delete"}},
		{address: "aws_db.more", actions: []string{"update"}, keys: []string{"size", "tags"}},
	}
}

const otherInsight = `{"costs":{"totalMonthly":"12","deltaMonthly":"-$3.00"},"security":{"issues":[
	{"severity":"critical","resource":"aws_db.new","description":"open to all\u001b[2J"},
	{"severity":"low","resource":"aws_db.old","description":"no tags","recommendation":"add some"}]}}`

// Every text of the document, and what the document has no example of.
func TestInfraTexts(t *testing.T) {
	one := []projectFile{{"main.tf", modified}}
	pulled := []projectFile{{"main.tf", modified}, {"variables.tf", unchanged}, {"provider.tf", onlyThere},
		{"outputs.tf", added}}
	summary := append(exampleFiles(), projectFile{"a.tf", unchanged}, projectFile{"b.tf", unchanged})
	example := previewed{counts: api.ProjectCounts{Added: 3, Changed: 1}, changes: exampleChanges()}
	plain := example
	example.insight = insightOf(t, exampleInsight)
	other := previewed{counts: api.ProjectCounts{Added: 2, Changed: 1, Destroyed: 3}, changes: otherChanges(), cut: true,
		insight: insightOf(t, otherInsight)}
	for name, have := range map[string]string{
		"sync": syncText(exampleFiles(), unpainted), "sync-painted": syncText(exampleFiles(), painted),
		"sync-empty": syncText(nil, unpainted),
		"summary":    compareText(summary), "summary-one": compareText(one),
		"uploaded": uploadedText(exampleFiles()), "uploaded-one": uploadedText(one),
		"warning":         onlyThereText(exampleFiles(), "holdfast infra", unpainted),
		"warning-painted": onlyThereText(exampleFiles(), "infra", painted),
		"insight":         insightText(example, unpainted),
		"insight-painted": insightText(example, painted),
		"insight-other":   insightText(other, unpainted),
		"insight-none":    insightText(plain, unpainted),
		"gate":            gateText(example.insight.Security.Issues, unpainted),
		"gate-painted":    gateText(other.insight.Security.Issues, painted),
		"asked":           questionText(example, unpainted),
		"question":        applyQuestion, "applied": appliedText(api.ProjectCounts{Added: 3, Changed: 1}),
		"pull": pullText(pulled, unpainted), "downloaded": downloadedText(pulled), "downloaded-one": downloadedText(one),
	} {
		t.Run(name, func(t *testing.T) { wantText(t, name, have) })
	}
}

func TestNothingToWarnOf(t *testing.T) {
	if text := onlyThereText([]projectFile{{"main.tf", modified}}, "infra", unpainted); text != "" {
		t.Errorf("it warns: %s", text)
	}
	if text := gateText(nil, unpainted); text != "" {
		t.Errorf("it warns: %s", text)
	}
}

func TestAgrees(t *testing.T) {
	for answer, want := range map[string]bool{"y": true, "yes": false, "": false, "n": false} {
		if agrees(answer) != want {
			t.Errorf("%q: %t", answer, !want)
		}
	}
}
