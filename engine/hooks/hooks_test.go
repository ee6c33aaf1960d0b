package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/hooks"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/fake"
)

func newEngine(t *testing.T, world *fake.World, text string, all ...engine.Hooks) *engine.Engine {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, world, dir, all...)
}

func open(t *testing.T, world *fake.World, dir string, all ...engine.Hooks) *engine.Engine {
	t.Helper()
	registry := provider.NewRegistry(nil)
	registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "fake"}, world.New)
	e, err := engine.New(engine.Options{Dir: dir, Registry: registry, Hooks: all})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func things(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"fake_thing\" \"t%d\" {\n  name = \"t%d\"\n}\n", i, i)
	}
	return b.String()
}

func do(e *engine.Engine) error { return doIn(context.Background(), e) }

func doIn(ctx context.Context, e *engine.Engine) error {
	p, err := e.Plan(ctx, plan.Options{})
	if err == nil {
		_, err = e.Apply(ctx, p, apply.Options{})
	}
	return err
}

func TestWebhookDecides(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
		open   bool
		want   string // of the error, empty for none
	}{
		"approved":             {`{"result":"APPROVED"}`, 200, false, ""},
		"rejected":             {`{"result":"REJECTED","reason":"it is Friday"}`, 200, true, "it is Friday"},
		"neither":              {`{"result":"perhaps"}`, 200, false, "neither APPROVED nor REJECTED"},
		"down, and closed":     {``, 503, false, "nobody says whether"},
		"down, and open":       {``, 503, true, ""},
		"not one of the known": {`<html>`, 404, false, "404"},
		"neither, and open":    {`{"result":"perhaps"}`, 200, true, "neither APPROVED nor REJECTED"},
		"a stranger, and open": {`<html>`, 404, true, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			ctx := oplog.Begin(t.Context(), nil)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				var q map[string]json.RawMessage
				if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q["plan"]) == 0 || len(q["state"]) == 0 ||
					string(q["correlation_id"]) != `"`+oplog.ID(ctx)+`"` {
					t.Errorf("asked %s, %v", q, err)
				}
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.answer)
			}))
			defer server.Close()
			hook := hooks.Webhook{URL: server.URL, Open: c.open,
				Policy: apply.Policy{Attempts: 3, Timeout: time.Minute, Jitter: func() float64 { return 1 }}}
			var world fake.World
			e := newEngine(t, &world, things(1), hook.Hooks())
			err := doIn(ctx, e)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if made := world.Len() == 1; made != (c.want == "") {
				t.Errorf("%d objects were made", world.Len())
			}
			if c.status == 503 && asked != 3 {
				t.Errorf("asked %d times", asked)
			}
			// The lock is free again, whatever was answered.
			release, err := e.Lock(t.Context(), "test")
			if err != nil {
				t.Fatal(err)
			}
			if err := release(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestDriftIsFoundWithoutALock(t *testing.T) {
	var world fake.World
	e := newEngine(t, &world, things(3))
	if err := do(e); err != nil {
		t.Fatal(err)
	}
	world.Change("thing-1", "size", cty.NumberIntVal(7))
	world.Lose("thing-2")
	release, err := e.Lock(t.Context(), "somebody else")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	alerts, mended := 0, 0
	d := hooks.Drift{Engine: e, Every: map[string]time.Duration{"fake_thing": time.Hour},
		Now: func() time.Time { return now },
		Alert: []func(context.Context, hooks.DriftReport) error{func(context.Context, hooks.DriftReport) error {
			alerts++
			return nil
		}}}
	world.Called = func(string) error { return errors.New("the network is gone") }
	if _, err := d.Look(t.Context()); err == nil {
		t.Error("it looked without a network")
	}
	world.Called = nil // what could not be looked at is due
	r, err := d.Look(t.Context())
	if err != nil || r.Looked != 3 || len(r.Drifted) != 2 || alerts != 1 {
		t.Fatalf("%+v %v, %d alerts", r, err, alerts)
	}
	for _, found := range r.Drifted {
		if found.Action == plan.Update && (len(found.Attributes) != 1 || found.Attributes[0] != "size") {
			t.Errorf("%+v", found)
		}
	}
	if r, err := d.Look(t.Context()); err != nil || r.Looked != 0 {
		t.Errorf("before an hour is over it looked at %d objects, %v", r.Looked, err)
	}
	now = now.Add(time.Hour)
	d.Ignore = map[string][]string{"fake_thing": {"size"}}
	d.Remediate = func(context.Context, hooks.DriftReport) error {
		mended++
		return nil
	}
	if r, err := d.Look(t.Context()); err != nil || len(r.Drifted) != 1 || mended != 1 {
		t.Errorf("%+v %v, mended %d times", r, err, mended)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCanaryGoesOnOrRollsBack(t *testing.T) {
	for _, healthy := range []bool{true, false} {
		t.Run(fmt.Sprintf("healthy %v", healthy), func(t *testing.T) {
			var world fake.World
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(things(10)), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				c := &hooks.Canary{Share: 20, Check: func(context.Context) error {
					if world.Len() != 2 {
						t.Errorf("%d are made when it is checked", world.Len())
					}
					if !healthy {
						return errors.New("it is sick")
					}
					return nil
				}}
				e := open(t, &world, dir, c.Hooks())
				err := do(e)
				if (err == nil) != healthy {
					t.Fatal(err)
				}
				if healthy && world.Len() != 10 {
					t.Errorf("%d are made", world.Len())
				}
				if healthy {
					return
				}
				if world.Len() != 2 || !strings.Contains(err.Error(), "it is sick") {
					t.Errorf("%d are made: %v", world.Len(), err)
				}
				if err := c.RollBack(t.Context(), open(t, &world, dir)); err != nil || world.Len() != 0 {
					t.Errorf("%d are left: %v", world.Len(), err)
				}
			})
		})
	}
}

// TestWebhookAddressIsSecret: an address may have a secret in it, and is in no error.
func TestWebhookAddressIsSecret(t *testing.T) {
	server := httptest.NewServer(nil)
	address := server.URL
	server.Close()
	hook := hooks.Webhook{URL: address + "/planted?token=planted", Policy: apply.Policy{Attempts: 1, Timeout: time.Minute}}
	var world fake.World
	err := doIn(t.Context(), newEngine(t, &world, things(1), hook.Hooks()))
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "planted") {
		t.Error(err)
	}
}
