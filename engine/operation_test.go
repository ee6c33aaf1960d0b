package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
)

// logged are the lines of a log in JSON.
func logged(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

// Every line says which operation it is of: also those about calls that are made again, and about what fails. No line
// has a value of the configuration's.
func TestEveryLineHasItsOperation(t *testing.T) {
	s := newSite(t, "resource \"fake_thing\" \"good\" {\n  name = \"hush\"\n}\n"+
		"resource \"fake_thing\" \"bad\" {\n  name = \"bad\"\n  links = [fake_thing.good.id]\n}\n")
	var out bytes.Buffer
	s.options = func(o *engine.Options) { o.Log = oplog.New(&out, slog.LevelDebug, true) }
	busy := true
	s.world.Fail = func(_, name string) error {
		switch {
		case name == "bad":
			return &provider.Fault{Summary: "no", Code: 403}
		case busy:
			busy = false
			return &provider.Fault{Summary: "busy", Code: 503}
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := s.apply(plan.Options{}, apply.Options{}); err == nil {
			t.Error("it went well")
		}
	})
	ids, seen := map[any]string{}, map[string]bool{}
	for _, line := range logged(t, out.String()) {
		id, ok := line["correlation_id"].(string)
		if !ok || len(id) != 8 {
			t.Errorf("%v has no operation", line)
		}
		if operation, ok := line["operation"].(string); ok {
			ids[id] = operation
		}
		seen[line["level"].(string)+" "+line["logger"].(string)+" "+ids[id]] = true
	}
	if len(ids) != 2 {
		t.Errorf("the operations are %v, want a plan and an apply", ids)
	}
	for _, want := range []string{"INFO engine.plan plan", "DEBUG engine.plan plan", "INFO engine.apply apply",
		"WARN engine.retry apply", "DEBUG engine.state apply", "ERROR engine.apply apply"} {
		if !seen[want] {
			t.Errorf("there is no line %s among %v", want, seen)
		}
	}
	if strings.Contains(out.String(), "hush") {
		t.Errorf("the log has a value:\n%s", &out)
	}
}

// Operations at the same time keep their lines apart, also where they share a log.
func TestOperationsAtOnceKeepTheirLinesApart(t *testing.T) {
	var out bytes.Buffer
	log := oplog.New(&out, slog.LevelDebug, true)
	var all sync.WaitGroup
	for _, name := range []string{"left", "right"} {
		s := newSite(t, "resource \"fake_thing\" \""+name+"\" {\n  name = \"a\"\n}\n")
		all.Go(func() {
			e, p, err := s.plan(plan.Options{})
			if err == nil {
				_, err = e.Apply(oplog.Begin(context.Background(), log), p, apply.Options{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	of := map[any]any{}
	for _, line := range logged(t, out.String()) {
		id, address := line["correlation_id"], line["address"]
		if address == nil {
			continue
		}
		if of[id] == nil {
			of[id] = address
		}
		if of[id] != address {
			t.Errorf("a line about %v is one of the operation on %v", address, of[id])
		}
	}
	if len(of) != 2 {
		t.Errorf("%v", of)
	}
}
