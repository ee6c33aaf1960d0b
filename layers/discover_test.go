package layers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/holdfast/holdfast/layers"
)

func tree(declaration string, names ...string) fstest.MapFS {
	made := fstest.MapFS{}
	for _, name := range names {
		made[name] = &fstest.MapFile{}
	}
	if declaration != "" {
		made[layers.DeclarationFile] = &fstest.MapFile{Data: []byte(declaration)}
	}
	return made
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	const declared = `
layers:
  - name: prod/network
    path: envs/prod/net
    tool: terraform
    version: ">= 1.5, < 2"
    reads: [ network, "shared/*" ]
    triggers: [ "shared/**", VERSION ]
    remediation: propose
    max_changes: 3
    drift: { cron: "0 6 * * 1-5", time_zone: Europe/Berlin }
    windows:
      - { kind: deny, schedule: "0 0 * * 6", duration: 48h, actions: [ apply ] }
    ignore:
      - address: aws_instance.*
        attribute: tags.LastScan
  - path: envs/*/*/
    drift: { every: 1h }
`
	found, err := layers.Discover(tree(declared, "envs/prod/net/main.tf", "envs/prod/app/x.tofu",
		"envs/dev/app/main.tf.json",
		"envs/dev/docs/README.md", "envs/dev/.hidden/main.tf", "modules/vpc/main.tf"), "infra", "release", "")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, f := range found {
		names = append(names, f.Name+"="+f.Path)
		if f.Repository != "infra" || f.Branch != "release" || f.Check() != nil {
			t.Errorf("%+v: %v", f, f.Check())
		}
	}
	if got := strings.Join(names,
		" "); got != "envs/dev/app=envs/dev/app envs/prod/app=envs/prod/app prod/network=envs/prod/net" {
		t.Error(got)
	}
	net := found[2]
	if net.Tool != "terraform" || net.Remediation != layers.Propose || net.MaxChanges != 3 || len(net.Triggers) != 2 ||
		net.Windows[0].Duration != 48*time.Hour || net.Drift.Zone != "Europe/Berlin" || len(net.Ignore) != 1 ||
		net.Line != 3 || !slices.Equal(net.Reads, []string{"network", "shared/*"}) || found[0].Reads != nil {
		t.Errorf("%+v", net)
	}
	if found[0].Drift.Every != time.Hour || found[0].Remediation != layers.Dry {
		t.Errorf("%+v", found[0])
	}
	found, err = layers.Discover(tree(declared, "envs/a/main.tf", "envs/b/main.tf", "main.tf"), "infra", "main",
		"envs/*/")
	if err != nil || len(found) != 2 || found[0].Name != "envs/a" || found[0].Line != 0 {
		t.Errorf("%v: %+v", err, found)
	}
	if found, err = layers.Discover(tree("layers: [{path: .}]", "main.tf"), "infra", "main", ""); err != nil ||
		found[0].Name != "infra" {
		t.Errorf("%v: %+v", err, found)
	}
}

// All that is wrong is said at once, with its line.
func TestDiscoverFaults(t *testing.T) {
	t.Parallel()
	const declared = `layers:
  - path: envs/prod
    colour: red
    path: twice
  - path: ../outside
  - path: gone
  - remediation: dry
  - path: envs/ok
    remediation: maybe
    retries: many
  - path: envs/ok
    remediation: maybe
    triggers: [ /abs, "ok/**" ]
    drift:
      every: 3s
    windows:
      - { kind: deny, schedule: "61 * * * *", duration: 1h }
  - path: envs/**/
    name: all
  - path: &anchor envs/ok
  - just a text
  - { path: envs/ok, reads: [ "a//b" ] }
extra: 1
`
	_, err := layers.Discover(tree(declared, "envs/ok/main.tf"), "infra", "main", "")
	faults, ok := errors.AsType[layers.Faults](err)
	if !ok {
		t.Fatal(err)
	}
	for _, want := range []string{
		`:3: a layer has no field "colour"; it has branch, drift`, `:4: a layer has the field "path" twice`,
		`:5: path: it is a folder`, `:7: a layer needs a path`, `:10: retries: "many" is not a number`,
		`:12: remediation: it is dry`, `:13: triggers: it is relative`, `:15: drift.every: it is 1 minute`,
		`:17: windows: the schedule "61 * * * *": the minute`, `:18: ** is too much`,
		`:19: a layer whose path has stars has no name`,
		`:20: path must be a text`, `:21: a layer must be a mapping`, `:22: reads: a pattern with an empty segment`,
		`:23: the file has no field "extra"; it has layers`,
	} {
		if !strings.Contains(faults.Error(), want) {
			t.Errorf("%s is not among\n%s", want, faults)
		}
	}
	_, err = layers.Discover(tree("layers: [{path: gone}, {path: a}, {path: a, name: b}, {path: a}]", "a/main.tf"), "r",
		"main", "")
	for _, want := range []string{"the folder gone has no configuration", `has a layer "a" too`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"", "a: [", strings.Repeat("[", 100_000), strings.Repeat("- ", 100_000),
		"a: " + strings.Repeat("{a: ", 100_000), "a: 1\n---\nb: 2", strings.Repeat("#", 2<<20), "layers: &a [*a]"} {
		if _, err := layers.Discover(tree(text+"\n"), "r", "main", ""); err == nil {
			t.Errorf("%.20q is taken", text)
		} else if _, ok := errors.AsType[layers.Faults](err); !ok {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, pattern := range []string{"**", "a/**/b", "/a/", "../a", "[", "a{b,c}"} {
		if _, err := layers.Discover(tree("", "a/main.tf"), "r", "main", pattern); err == nil {
			t.Errorf("the pattern %s is taken", pattern)
		}
	}
	if _, err := layers.Discover(tree("", "a/main.tf"), "r", "main", ""); err == nil || !strings.Contains(err.Error(),
		"no such file") {
		t.Error(fmt.Sprint(err))
	}
}
