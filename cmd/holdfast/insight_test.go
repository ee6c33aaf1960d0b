package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/insighttest"
)

// planFile is a plan that makes one resource.
func planFile(t *testing.T, address string, after any) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, insighttest.JSON(insighttest.Resource{Address: address, After: after}),
		0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// ran runs a command line, and returns its exit code and what it printed.
func ran(s *shell, stdin string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	var out, problems strings.Builder
	a := s.app(&out, &problems)
	a.stdin = strings.NewReader(stdin)
	code = run(s.t.Context(), args, a)
	return code, out.String(), problems.String()
}

// TestInsightExitCodes: the gravest finding decides, from --fail-on on.
func TestInsightExitCodes(t *testing.T) {
	s := newShell(t)
	type values = map[string]any
	open := values{"ingress": []any{values{"from_port": 22, "to_port": 22, "protocol": "tcp",
		"cidr_blocks": []string{"0.0.0.0/0"}}}}
	high, critical := planFile(t, "aws_security_group.x", open), planFile(t, "aws_s3_bucket_acl.x",
		values{"acl": "public-read"})
	low, none := planFile(t, "aws_sqs_queue.x", values{"name": "q"}), planFile(t, "terraform_data.x", values{})
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "a.rego"), []byte("package main\ndeny contains 3 if true\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{none}, 0}, {[]string{none, "--fail-on", "low"}, 0}, {[]string{low}, 0}, {[]string{low,
			"--fail-on", "low"}, 3},
		{[]string{high}, 5}, {[]string{high, "--fail-on", "medium"}, 5}, {[]string{high, "--fail-on", "critical"}, 0},
		{[]string{critical, "--fail-on", "critical"}, 6}, {[]string{critical, "--fail-on", "never"}, 0},
		{[]string{none, "--policy", broken}, 7}, {[]string{none, "--fail-on", "worst"}, exitUsage},
		{[]string{none, "--json", "--sarif"}, exitUsage}, {[]string{none + "x"}, exitFailed}, {nil, exitUsage},
	} {
		if code, _, problems := ran(s, "", append([]string{"insight"}, test.args...)...); code != test.want {
			t.Errorf("%v: %d, not %d: %s", test.args, code, test.want, problems)
		}
	}
}

// TestInsightForms: each form is what programs read, and stdin is as good as a file.
func TestInsightForms(t *testing.T) {
	s := newShell(t)
	file := planFile(t, "aws_s3_bucket_acl.x", map[string]any{"acl": "public-read"})
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := ran(s, string(raw), "insight", "-")
	if !strings.Contains(text, "  [CRITICAL] aws_s3_bucket_acl.x — its ACL lets everybody in\n             Recommendation: ") {
		t.Error(text)
	}
	var all api.Insight
	if _, text, _ := ran(s, "", "insight", file, "--json"); json.Unmarshal([]byte(text), &all) != nil ||
		!all.Security.ShouldApprove || all.Security.Issues[0].Severity != "critical" {
		t.Error(text)
	}
	var sarif struct{ Runs []struct{ Results []any } }
	if _, text, _ := ran(s, "", "insight", file, "--sarif"); json.Unmarshal([]byte(text), &sarif) != nil ||
		len(sarif.Runs[0].Results) != 1 {
		t.Error(text)
	}
	var junit struct {
		Failures int `xml:"failures,attr"`
	}
	if _, text, _ := ran(s, "", "insight", file, "--junit"); xml.Unmarshal([]byte(text), &junit) != nil ||
		junit.Failures != 1 {
		t.Error(text)
	}
	if _, text, _ := ran(s, "", "insight", file, "--markdown"); !strings.HasPrefix(text, "## Insight\n") {
		t.Error(text)
	}
	if code, _, problems := ran(s, "PK\x03\x04", "insight", "-"); code != exitFailed ||
		!strings.Contains(problems, "show -json") {
		t.Errorf("%d: %s", code, problems)
	}
}

// TestInsightWaivers: a waiver lets a finding be, and a file that is wrong fails the command.
func TestInsightWaivers(t *testing.T) {
	s := newShell(t)
	file := planFile(t, "aws_s3_bucket_acl.x", map[string]any{"acl": "public-read"})
	waivers := filepath.Join(t.TempDir(), "waivers.yaml")
	write := func(text string) {
		if err := os.WriteFile(waivers, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("waivers:\n- {rule: HF-AWS-009, resource: '*', owner: ann, reason: a website, expires: 2999-12-31}\n")
	if code, text, _ := ran(s, "", "insight", file, "--waivers", waivers); code != 0 || !strings.Contains(text,
		"a website") {
		t.Errorf("%d: %s", code, text)
	}
	write("waivers:\n- {rule: HF-AWS-009, resource: '*', expires: 2999-12-31}\n")
	if code, _, problems := ran(s, "", "insight", file, "--waivers", waivers); code != exitFailed ||
		!strings.Contains(problems, "it has no owner") {
		t.Errorf("%d: %s", code, problems)
	}
}

// TestPolicyTest runs tests that pass, that fail, and none.
func TestPolicyTest(t *testing.T) {
	s := newShell(t)
	folder := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "a_test.rego"), []byte("package main\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]struct {
		code int
		says string
	}{
		"deny contains \"x\" if input.bad\ntest_bad if \"x\" in deny with input as {\"bad\": true}": {0, "1 test passed."},
		"test_no if 1 == 2":              {exitFailed, "FAIL data.main.test_no: it is undefined"},
		"deny contains \"x\" if true":    {exitFailed, "there is no test"},
		"deny contains \"x\" if {":       {exitFailed, "a_test.rego:2"},
		"test_x if http.send({\"a\":1})": {exitFailed, "http.send"},
	} {
		write(text)
		if code, out, problems := ran(s, "", "policy", "test", folder); code != want.code ||
			!strings.Contains(out+problems, want.says) {
			t.Errorf("%s: %d: %s%s", text, code, out, problems)
		}
	}
}

// TestInsightOfOthers: what other programs have found counts, is waived as other findings are, and what is no such file
// fails the command; costs of another program take the place of the sheet's.
func TestInsightOfOthers(t *testing.T) {
	s := newShell(t)
	const others = "../../insight/others/testdata/"
	file := planFile(t, "aws_instance.web", map[string]any{"instance_type": "t3.micro", "region": "eu-west-1"})
	code, text, problems := ran(s, "", "insight", file, "--results", others+"trivy.sarif", "--results",
		others+"checkov.sarif",
		"--infracost", "../../insight/infracost/testdata/infracost.json")
	for _, want := range []string{"[CRITICAL] main.tf:12 — ", "(Trivy AVD-AWS-0107)", "[HIGH] aws_s3_bucket.data — ",
		"$31.97/mo  (Infracost)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if code != 6 {
		t.Errorf("%d: %s", code, problems)
	}
	waivers := filepath.Join(t.TempDir(), "waivers.yaml")
	const waived = "waivers:\n- {rule: AVD-AWS-0107, resource: 'main.tf:*', owner: ann, reason: a bastion, expires: 2999-12-31}\n"
	if err := os.WriteFile(waivers, []byte(waived), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text, _ := ran(s, "", "insight", file, "--results", others+"trivy.sarif", "--waivers", waivers, "--fail-on",
		"critical"); code != 0 || !strings.Contains(text, "a bastion") {
		t.Errorf("%d: %s", code, text)
	}
	for _, flag := range []string{"--results", "--infracost"} {
		if code, _, problems := ran(s, "", "insight", file, flag, file); code != exitFailed ||
			!strings.Contains(problems, "Infracost") && !strings.Contains(problems, "SARIF") {
			t.Errorf("%s: %d: %s", flag, code, problems)
		}
	}
}
