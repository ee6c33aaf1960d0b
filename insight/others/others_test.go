package others_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/infracost"
	"github.com/holdfast/holdfast/insight/others"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func read(t testing.TB, file string) *strings.Reader {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(text))
}

// Files in the forms of Trivy and of Checkov are read with severity, place and rule.
func TestSARIF(t *testing.T) {
	for file, want := range map[string][]api.InsightFinding{
		"trivy.sarif": {{Rule: "AVD-AWS-0107", Severity: "critical", Kind: "scan", Resource: "main.tf:12",
			Title: "An ingress security group rule allows traffic from /0.", Tool: "Trivy",
			Description:    "Artifact: main.tf Type: terraform Vulnerability AVD-AWS-0107 Severity: CRITICAL",
			Recommendation: "Set a more restrictive CIDR range", Link: "https://avd.aquasec.com/misconfig/avd-aws-0107"}},
		"checkov.sarif": {{Rule: "CKV_AWS_20", Severity: "high", Kind: "scan", Resource: "aws_s3_bucket.data",
			Title: "S3 Bucket has an ACL defined which allows public READ access.", Tool: "Checkov",
			Description:    "S3 Bucket has an ACL defined which allows public READ access.",
			Recommendation: "\"S3 Bucket has an ACL defined which allows public READ access. Resource: aws_s3_bucket.data\"",
			Link:           "https://docs.example.com/s3-1-acl-read-permissions-everyone"}},
	} {
		found, err := others.ReadSARIF(read(t, file))
		if diff := cmp.Diff(want, found.Findings); err != nil || diff != "" || len(found.Broken) > 0 || found.Cut {
			t.Errorf("%s: %v, %v\n%s", file, err, found.Broken, diff)
		}
	}
}

// How grave a result is, and whether it counts, is as the format has it.
func TestResultsThatCount(t *testing.T) {
	for text, want := range map[string]string{
		`{"ruleId":"a","level":"error"}`: "high", `{"ruleId":"a","level":"warning"}`: "medium", `{"ruleId":"a"}`: "medium",
		`{"ruleId":"a","level":"note"}`: "low", `{"ruleId":"low"}`: "low", `{"ruleId":"b"}`: "critical",
		`{"ruleId":"a","kind":"pass"}`: "", `{"ruleId":"a","baselineState":"absent"}`: "",
		`{"ruleId":"a","suppressions":[{"kind":"inSource"}]}`: "", `{"ruleId":"odd","level":"error"}`: "high",
	} {
		found, err := others.ReadSARIF(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x","rules":[
			{"id":"b","properties":{"security-severity":"9.1"}},{"id":"low","defaultConfiguration":{"level":"note"}},
			{"id":"odd","properties":{"security-severity":"Infinity"}}]}},"results":[` + text + `]}]}`))
		got := ""
		for _, f := range found.Findings {
			got += f.Severity
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// What is no SARIF is refused as a whole, and what is hostile is bounded.
func TestHostileSARIF(t *testing.T) {
	for _, text := range []string{"", "null", "[]", "{}", `{"version":"1.0.0","runs":[]}`, `{"version":"2.1.0"}`,
		`{"version":"2.1.0","runs":[{"results":[]}]}`, `{"version":"2.1.0","runs":{}}`, "<sarif/>",
		`{"version":"2.1.0","runs":[]} {}`, `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[3]}]}`,
		strings.Repeat("[", 1<<20), `{"version":"` + strings.Repeat("2", 33<<20) + `"}`} {
		if found, err := others.ReadSARIF(strings.NewReader(text)); err == nil {
			t.Errorf("%.60s: %d findings", text, len(found.Findings))
		}
	}
	one := `{"ruleId":"a","message":{"text":"` + strings.Repeat("é", 600) + `"}},`
	many := strings.TrimSuffix(strings.Repeat(one, 6000), ",")
	found, err := others.ReadSARIF(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},
		"invocations":[{"executionSuccessful":false},{"executionSuccessful":false}],"results":[` + many + `]}]}`))
	if err != nil || !found.Cut || len(found.Findings) != 5000 || len(found.Broken) != 1 ||
		len(found.Findings[0].Description) > 510 || !utf8.ValidString(found.Findings[0].Description) {
		t.Errorf("%d findings, cut: %t, %v, %v", len(found.Findings), found.Cut, found.Broken, err)
	}
	found, err = others.ReadSARIF(strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x","rules":[
		{"id":"a","helpUri":"javascript:alert(1)"},{"id":"b","helpUri":"https://x/)](y"}]}},
		"results":[{"ruleId":"a"},{"ruleId":"b"}]}]}`))
	if err != nil || found.Findings[0].Link != "" || found.Findings[1].Link != "" {
		t.Errorf("%+v, %v", found.Findings, err)
	}
}

func costing(monthly string) string {
	return fmt.Sprintf(`{"version":"0.2","currency":"USD","projects":[{"breakdown":{"resources":[{"name":"a.b","monthlyCost":%s}]}}]}`,
		monthly)
}

// FuzzOthers: whatever a file has, it is read or refused, within the bounds.
func FuzzOthers(f *testing.F) {
	fuzzseeds.Add(f)
	for _, file := range []string{"trivy.sarif", "checkov.sarif", "../../infracost/testdata/infracost.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := others.ReadSARIF(strings.NewReader(text))
		if err == nil {
			for _, one := range found.Findings {
				for _, said := range []string{one.Rule, one.Title, one.Description, one.Recommendation, one.Tool, one.Resource} {
					if len(said) > 600 || !utf8.ValidString(said) {
						t.Errorf("%q", said)
					}
				}
				if one.Severity == "" || one.Tool == "" {
					t.Errorf("%+v", one)
				}
			}
		}
		given, err := infracost.Read(strings.NewReader(text))
		for address, one := range given {
			if err == nil && (!(one.After >= 0) || !(one.Before >= 0) || address == "") {
				t.Errorf("%s: %+v", address, one)
			}
		}
	})
}
