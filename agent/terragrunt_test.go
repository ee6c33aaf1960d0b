package agent_test

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/backend"
)

// wrapping is a rig whose tool makes files as Terragrunt does: in a folder with another name each time.
func wrapping(t *testing.T, tool scriptTool, files map[string]string) (r *rig, calls string) {
	t.Helper()
	made, calls := tool.make(t)
	made.name = "terragrunt"
	r = newRig(t, made, files)
	r.settings.Tools = callingTool{made}
	return r, calls
}

// makesSource is an init that makes a folder of the unit's source, as Terragrunt does.
const makesSource = `d=.terragrunt-cache/$$/x/db; mkdir -p $d/../.git; cp ` + backend.File + ` $d
echo '# made' > $d/more.tf; echo first > $d/says.tpl; echo large > $d/../.git/large
echo $$ > $d/../.terragrunt-source-version; touch $d/.terraform.lock.hcl
mkdir -p .terragrunt-cache/other/y; echo no > .terragrunt-cache/other/y/main.tf`

// What Terragrunt made for a plan is carried to its apply, into the folder that it makes there.
func TestWhatTerragruntMadeIsCarried(t *testing.T) {
	r, calls := wrapping(t, scriptTool{init: makesSource,
		plan:  `cd .terragrunt-cache/*/x/db; echo zip > made.zip; echo second > says.tpl; cd - > /dev/null`,
		apply: `cat .terragrunt-cache/*/x/db/made.zip .terragrunt-cache/*/x/db/says.tpl; ls .terragrunt-cache`,
	}, map[string]string{"terragrunt.hcl": ""})
	run, all := r.planThenApply(calls, func() {
		r.end()
		r.start()
	})
	if got := strings.Join(all, " "); got != initTwice {
		t.Errorf("the tool was called for %s", got)
	}
	if log := r.server.Log(run, "apply"); !strings.Contains(log, "zip\nsecond\n") {
		t.Errorf("the apply has other files: %s", log)
	}
	kept := string(r.server.Artefact(run, "plan_files"))
	for name, want := range map[string]bool{".terragrunt-cache/work/db/more.tf": true,
		".terragrunt-cache/work/db/made.zip":        true,
		".terragrunt-cache/work/db/" + backend.File: true, ".git/large": false, ".terraform.lock.hcl": false,
		".terragrunt-source-version": false, "y/main.tf": false} {
		if strings.Contains(kept, name) != want {
			t.Errorf("%s is carried: %v", name, !want)
		}
	}
}

// What programs print that Terragrunt's configuration calls is no part of the plan's JSON.
func TestWhatTerragruntCallsMayPrint(t *testing.T) {
	r, calls := wrapping(t, scriptTool{init: makesSource, show: "echo hello; echo 7; echo"},
		map[string]string{"terragrunt.hcl": ""})
	run, _ := r.planThenApply(calls, func() {})
	if kept := string(r.server.Artefact(run, "plan_json")); kept != "{\"format_version\":\"1.0\"}\n" {
		t.Errorf("the plan's JSON is %q", kept)
	}
}

// An apply for which Terragrunt makes another configuration than for the plan is refused before it begins.
func TestWhatTerragruntMakesOtherwiseIsNotApplied(t *testing.T) {
	for name, c := range map[string]struct{ init, want string }{
		"another file": {makesSource + "\necho \"# $$\" > $d/more.tf", "more.tf is another one now"},
		"one more":     {makesSource + "\necho x > $d/m$$.tf", ".tf is another one now"},
		"without a source": {`[ "$(grep -c init "$(dirname "$0")/calls")" = 2 ] || { ` + makesSource + "\n}",
			"the unit's source is not there now"},
		"in the unit's own folder": {"echo \"# $$\" > more.tf", "more.tf is another one now"},
	} {
		r, calls := wrapping(t, scriptTool{init: c.init}, map[string]string{"terragrunt.hcl": ""})
		r.start()
		run := r.server.Queue("prod/network", "apply")
		if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
			t.Fatalf("%s: the plan ends with %+v", name, last)
		}
		r.cleared()
		r.server.Approve(run)
		last := r.ended(run, "apply")
		if last.Phase != "init" || last.Class != "config" || !strings.Contains(last.Message, c.want) {
			t.Errorf("%s: the apply ends with %+v", name, last)
		}
		if all := callsOf(t, calls); strings.Contains(strings.Join(all, " "), "apply") {
			t.Errorf("%s: the tool was called for %v", name, all)
		}
		r.end()
	}
}

// The tool works where Terragrunt has noted what it has copied there, though a source that has the unit's folder in it
// brings a copy of that with the run's own block, too.
func TestWhereTerragruntsToolWorks(t *testing.T) {
	const init = `d=.terragrunt-cache/$$/x; mkdir -p $d/u $d/modules/db; cp ` + backend.File + ` terragrunt.hcl $d/u
d=$d/modules/db; cp ` + backend.File + ` $d; echo '# made' > $d/main.tf; touch $d/.terragrunt-module-manifest`
	r, calls := wrapping(t, scriptTool{init: init}, map[string]string{"terragrunt.hcl": ""})
	run, _ := r.planThenApply(calls, func() {})
	kept := string(r.server.Artefact(run, "plan_files"))
	if !strings.Contains(kept, ".terragrunt-cache/work/modules/db/"+backend.File) ||
		strings.Contains(kept, ".terragrunt-cache/work/u/"+backend.File) {
		t.Errorf("what is carried is of another folder than the tool's: %q", kept)
	}
}

// What other programs have found is read where Terragrunt's steps leave it, and once where it was pushed and copied.
func TestTerragruntsResultsAreRead(t *testing.T) {
	leaves := `; mkdir $d/holdfast-results; cp holdfast-results/* $d/holdfast-results
echo '{"left":1}' > $d/holdfast-results/b.sarif`
	r, calls := wrapping(t, scriptTool{init: makesSource + leaves},
		map[string]string{"terragrunt.hcl": "", "holdfast-results/a.sarif": `{"pushed":1}`})
	run, _ := r.planThenApply(calls, func() {})
	kept := string(r.server.Artefact(run, "results"))
	if strings.Count(kept, "a.sarif") != 1 || strings.Count(kept, "b.sarif") != 1 {
		t.Errorf("the results are %s", kept)
	}
}

// What keeps the state elsewhere is refused before anything runs, and where it is generated before there is a plan.
func TestTerragruntKeepsTheStateHere(t *testing.T) {
	for name, c := range map[string]struct{ unit, init, phase, want string }{
		"said": {"remote_state {\n  backend = \"s3\"\n}\n", ":", "prepare",
			`backend "s3", which is elsewhere, in line 1 of terragrunt.hcl`},
		"made": {"", makesSource + "\nprintf 'terraform {\\n  backend \"s3\" {}\\n}\\n' > $d/b.tf", "init",
			`backend "s3" in line 2 of b.tf`},
	} {
		r, _ := wrapping(t, scriptTool{init: c.init}, map[string]string{"terragrunt.hcl": c.unit})
		r.start()
		last := r.ended(r.server.Queue("prod/network", "apply"), "plan")
		if last.Phase != c.phase || last.Class != "config" || !strings.Contains(last.Message, c.want) {
			t.Errorf("%s: the plan ends with %+v", name, last)
		}
		r.end()
	}
}
