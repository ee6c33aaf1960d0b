package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
)

// theKey is what the operator has for Infracost.
const theKey = "ico-a-key-of-the-operator"

// priced runs a plan with a program in Infracost's place, which notes how it was called outside of the run's folder.
// plan is what the tool does besides planning, and shown a plan's JSON.
func priced(t *testing.T, plan, shown, program string, patience time.Duration,
	set ...func(*rig)) (r *rig, run, noted string) {
	t.Helper()
	tool, _ := scriptTool{plan: plan}.make(t)
	text, err := os.ReadFile(tool.path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	noted = filepath.Join(folder, "noted")
	path := filepath.Join(folder, "infracost")
	for name, content := range map[string]string{
		tool.path: strings.Replace(string(text), `'{"format_version":"1.0"}'`, "'"+shown+"'", 1),
		path:      "#!/bin/sh\nout=$7\n{ pwd; ls; echo \"$@\"; env; cat \"$3\"; } > " + noted + "\n" + program + "\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r = newRig(t, tool, map[string]string{"main.tf": ""})
	r.settings.Infracost = agent.Infracost{Path: path, Key: theKey, Patience: patience}
	for _, one := range set {
		one(r)
	}
	r.start()
	return r, r.server.Queue("prod/network", "apply"), noted
}

// TestInfracostSaysWhatAPlanCosts: it is shown the masked plan in a folder where nothing of the configuration is, gets
// its key and nothing else, and what it says is among the results.
func TestInfracostSaysWhatAPlanCosts(t *testing.T) {
	r, run, noted := priced(t, `mkdir holdfast-results; echo '{}' > holdfast-results/infracost.json`,
		`{"format_version":"1.2","resource_changes":[{"address":"t.a","mode":"managed","type":"t","name":"a","change":`+
			`{"actions":["create"],"before":null,"after":{"p":"hidden-by-its-mark"},"after_unknown":{},`+
			`"before_sensitive":false,"after_sensitive":{"p":true}}}]}`,
		`echo '{"version":"0.2","projects":[],"key":"'$INFRACOST_API_KEY'"}' > "$out"`, 0)
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
		t.Fatalf("the plan ends with %+v", last)
	}
	var results api.OtherResults
	if err := json.Unmarshal(r.server.Artefact(run, "results"), &results); err != nil || len(results.Files) != 2 {
		t.Fatalf("%v: %+v", err, results)
	}
	if got := results.Files[1]; got.Name != "infracost-breakdown.json" ||
		!strings.Contains(got.Text, `"projects":[]`) || strings.Contains(got.Text, theKey) {
		t.Errorf("it has said %+v", got)
	}
	raw, err := os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{"/pricing\nplan.json\nbreakdown --path /", "INFRACOST_API_KEY=" + theKey,
		`"after":{"p":{"(sensitive)":true}}`, "/pricing\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in what it was given:\n%s", want, text)
		}
	}
	for _, never := range []string{"hidden-by-its-mark", "TF_HTTP_PASSWORD", "TF_VAR_", secret} {
		if strings.Contains(text, never) {
			t.Errorf("it was given %q", never)
		}
	}
}

// TestInfracostNeverFailsAPlan: however it ends, the plan goes on, and the log says so.
func TestInfracostNeverFailsAPlan(t *testing.T) {
	for name, c := range map[string]struct {
		program, shown, said string
		patience             time.Duration
		set                  func(*rig)
	}{
		"it fails":        {program: "echo " + theKey + "; exit 3", said: "it ended with 3"},
		"it says nothing": {program: "exit 0", said: "there is no file of it"},
		"it makes a link": {program: `ln -s /etc/passwd "$out"`, said: "there is no file of it"},
		"it never ends":   {program: "sleep 100000", said: "it was ended", patience: time.Second},
		"it never stops":  {program: `head -c 5000000 /dev/zero > "$out"; sleep 100000`, said: "it was ended"},
		"too large":       {program: `head -c 5000000 /dev/zero > "$out"`, said: "much"},
		"no output":       {program: `echo '{"projects":[' > "$out"`, said: "can't be read once it is masked"},
		"other money": {program: `echo '{"version":"0.2","currency":"EUR","projects":[]}' > "$out"`,
			said: "in US dollars"},
		"a masked cost": {set: sensitive("306"), said: "is no cost a month", program: `echo '{"version":"0.2","projects":[` +
			`{"breakdown":{"resources":[{"name":"a.b","monthlyCost":"306.60"}]}}]}' > "$out"`},
		"a masked plan": {set: sensitive("true"), said: "no plan is left once it is masked",
			shown: `{"format_version":"1.2","complete":true}`},
		"it fills the folder": {program: `head -c 3000000 /dev/zero > other; sleep 100000`, said: "it was ended",
			set: func(r *rig) { r.settings.MaxFolderBytes = 1 << 20 }},
		"it is not killed at once": {program: "sleep 100000", said: "it was ended", patience: time.Second,
			set: func(r *rig) { r.settings.Commands = &odd{Commands: r.settings.Commands} }},
		"its end is lost": {program: `echo '{"version":"0.2","projects":[]}' > "$out"`, said: "nobody saw how it ended",
			set: func(r *rig) { r.settings.Commands = &odd{Commands: r.settings.Commands, lost: true} }},
		"no plan": {shown: `{"format_version":"7"}`, said: "only 1 is understood"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.set == nil {
				c.set = func(*rig) {}
			}
			r, run, _ := priced(t, "", or(c.shown, `{"format_version":"1.2"}`), c.program, c.patience, c.set)
			if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
				t.Fatalf("the plan ends with %+v", last)
			}
			log := r.server.Log(run, "plan")
			if !strings.Contains(log, "Infracost has not said what the plan costs: ") || !strings.Contains(log, c.said) ||
				strings.Contains(log, theKey) {
				t.Errorf("the log says:\n%s", log)
			}
			if got := r.server.Artefact(run, "results"); got != nil {
				t.Errorf("the server has %s", got)
			}
		})
	}
}

// sensitive gives the workspace a sensitive value more.
func sensitive(value string) func(*rig) {
	return func(r *rig) {
		r.server.Template.Variables = append(r.server.Template.Variables,
			api.Input{Name: "other", Value: value, Sensitive: true})
	}
}

// odd are commands of which Infracost's can't be killed the first time, or its end is not known.
type odd struct {
	agent.Commands
	lost  bool
	kills atomic.Int32
}

func (o *odd) Start(ctx context.Context, c agent.Command) (agent.Process, error) {
	process, err := o.Commands.Start(ctx, c)
	if err == nil && filepath.Base(c.Folder) == "pricing" {
		process = oddProcess{process, o}
	}
	return process, err
}

type oddProcess struct {
	agent.Process
	odd *odd
}

func (p oddProcess) Kill() error {
	if p.odd.kills.Add(1) == 1 {
		return errors.New("it can't be killed now")
	}
	return p.Process.Kill()
}

func (p oddProcess) Wait(ctx context.Context) (agent.Exit, error) {
	exit, err := p.Process.Wait(ctx)
	exit.Lost = p.odd.lost
	return exit, err
}

// TestInfracostEndsWithItsFolder: where the run is given to somebody else while no executor is there, the next one ends
// Infracost before it removes the folder.
func TestInfracostEndsWithItsFolder(t *testing.T) {
	r, run, noted := priced(t, "", `{"format_version":"1.2"}`, `echo begun; sleep 100000`, 0)
	r.appears(noted)
	found, err := filepath.Glob(filepath.Join(r.settings.Work, "runs", "*", "*", "p", "pricing"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	r.appears(filepath.Join(found[0], "log"))
	process, err := r.commands.Find(t.Context(), found[0])
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	r.server.Resolve(run)
	r.start()
	r.cleared()
	over, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if exit, err := process.Wait(over); err != nil || exit.Signal == "" {
		t.Errorf("it ends with %+v, %v", exit, err)
	}
}

// TestNoInfracost: what is no program is refused before anything begins.
func TestNoInfracost(t *testing.T) {
	for _, path := range []string{"infracost", "/nowhere/infracost", "/etc/passwd", "/", "/bin/../bin/sh", "/bin//sh"} {
		if _, err := agent.New(agent.Settings{Work: t.TempDir(), Infracost: agent.Infracost{Path: path}}); err == nil ||
			!strings.Contains(err.Error(), "infracost: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
