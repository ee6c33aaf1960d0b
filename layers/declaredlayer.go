package layers

import (
	"cmp"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/holdfast/holdfast/auth"
)

// layer reads one entry of the file.
func (d *declaration) layer(n ast.Node) {
	made := Declared{Settings: Defaults(), Line: line(n)}
	made.Path, made.Branch, made.Repository = "", "", "this"
	lines := map[string]int{}
	known := d.layerFields(&made)
	for name, use := range known {
		known[name] = func(n ast.Node) {
			lines[name] = line(n)
			use(n)
		}
	}
	before := len(d.faults)
	d.mapping(n, "a layer", known)
	if len(d.faults) > before {
		return
	}
	pattern := isPattern(made.Path)
	switch {
	case made.Path == "":
		d.fault(made.Line, "a layer needs a path")
		return
	case pattern && made.Name != "":
		d.fault(lines["name"], "a layer whose path has stars has no name: each is named by its path")
	}
	if pattern && strings.Contains(made.Path, "**") {
		d.fault(lines["path"], "** is too much for a path: name how deep it is with stars, such as envs/*/*/")
	}
	checked := made.Settings
	checked.Branch = cmp.Or(made.Branch, Defaults().Branch)
	if pattern {
		checked.Path = "."
	} else {
		made.Path = strings.TrimSuffix(made.Path, "/")
		checked.Path = made.Path
	}
	for _, b := range checked.broken() {
		field, _, _ := strings.Cut(b.Field, ".")
		at := lines[field]
		if at == 0 {
			at = made.Line
		}
		d.fault(at, "%s: %s", b.Field, b.Text)
	}
	made.Repository = ""
	d.layers = append(d.layers, made)
}

func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

func (d *declaration) layerFields(l *Declared) fields {
	return fields{
		"name": d.text("name", &l.Name), "path": d.text("path", &l.Path), "branch": d.text("branch", &l.Branch),
		"tool": d.text("tool", &l.Tool), "version": d.text("version", &l.Version),
		"reads": func(n ast.Node) {
			l.Reads = []string{} // an empty list takes away what there is
			d.texts("reads", &l.Reads)(n)
			if _, err := auth.PatternsOf(l.Reads); err != nil {
				d.fault(line(n), "reads: %s", err)
			}
		},
		"triggers":    d.texts("triggers", &l.Triggers),
		"remediation": func(n ast.Node) { d.text("remediation", (*string)(&l.Remediation))(n) },
		"max_changes": d.number("max_changes", &l.MaxChanges), "retries": d.number("retries", &l.Retries),
		"drift": func(n ast.Node) {
			d.mapping(n, "drift", fields{"off": d.flag("off", &l.Drift.Off), "every": d.duration("every", &l.Drift.Every),
				"cron": d.text("cron", &l.Drift.Cron), "time_zone": d.text("time_zone", &l.Drift.Zone),
				"refresh_only": d.flag("refresh_only", &l.Drift.RefreshOnly)})
		},
		"windows": func(n ast.Node) {
			d.list(n, "windows", mostWindows, func(n ast.Node) {
				var w Window
				d.mapping(n, "a window", fields{"kind": d.text("kind", &w.Kind), "schedule": d.text("schedule", &w.Schedule),
					"time_zone": d.text("time_zone", &w.Zone), "duration": d.duration("duration", &w.Duration),
					"actions": d.texts("actions", &w.Actions)})
				l.Windows = append(l.Windows, w)
			})
		},
		"ignore": func(n ast.Node) {
			d.list(n, "ignore", mostRules, func(n ast.Node) {
				var r Rule
				d.mapping(n, "a rule", fields{"address": d.text("address", &r.Address),
					"attribute": d.text("attribute", &r.Attribute)})
				l.Ignore = append(l.Ignore, r)
			})
		},
	}
}
