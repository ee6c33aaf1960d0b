package agent_test

import (
	"strings"
	"testing"
)

// What a step of a plan leaves in the folder of results is brought to the server with it, by name, and is nothing that
// the apply is given.
func TestResultsOfSteps(t *testing.T) {
	r, _ := scripted(t, scriptTool{plan: `mkdir holdfast-results; cd holdfast-results
		echo '{"version":"2.1.0","runs":[]}' > trivy.sarif; echo '{}' > infracost.json; echo no > notes.txt; cd ..`})
	r.start()
	run := r.server.Queue("prod/network", "apply")
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
		t.Fatalf("the plan ends with %+v", last)
	}
	got := string(r.server.Artefact(run, "results"))
	if want := `{"files":[{"name":"infracost.json","text":"{}\n"},` +
		`{"name":"trivy.sarif","text":"{\"version\":\"2.1.0\",\"runs\":[]}\n"}]}` + "\n"; got != want {
		t.Errorf("the server has %s", got)
	}
	if made := string(r.server.Artefact(run, "plan_files")); strings.Contains(made, "trivy") {
		t.Errorf("what planning made is %q", made)
	}
}

// Results that can't be read fail the plan: without them it might go through.
func TestResultsThatCantBeRead(t *testing.T) {
	for name, plan := range map[string]string{
		"links":     "mkdir holdfast-results; ln -s /etc/passwd holdfast-results/a.sarif",
		"elsewhere": "ln -s /etc holdfast-results",
		"a file":    "echo x > holdfast-results",
		"a folder":  "mkdir -p holdfast-results/a.sarif",
		"many":      "mkdir holdfast-results; for i in 1 2 3 4 5 6 7 8 9 10 11; do : > holdfast-results/$i.sarif; : > holdfast-results/x$i.sarif; done",
		"large":     "mkdir holdfast-results; head -c 5000000 /dev/zero > holdfast-results/a.sarif",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := scripted(t, scriptTool{plan: plan})
			r.start()
			run := r.server.Queue("prod/network", "apply")
			if last := r.ended(run, "plan"); last.Outcome != "failed" ||
				!strings.Contains(last.Message, "what other programs have found can't be read") {
				t.Errorf("the plan ends with %+v", last)
			}
			if got := r.server.Artefact(run, "results"); got != nil {
				t.Errorf("the server has %s", got)
			}
		})
	}
}
