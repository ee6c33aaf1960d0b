package handlers_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/internal/runworld"
)

const (
	wireUpload = `{"provider":"aws","category":"compute","resource_type":"vm","later":1,"instances":[` +
		`{"resource_name":"<vm>","attributes":{"id":1.50}}]}`
	wireInfo = `{"ID":"w-1","Operation":"OperationTypeApply","Info":"<i>",` +
		`"Who":"ada@engine","Version":"1.12.6","Created":"2026-11-21T02:53:01.5Z","Path":"p"}`
	wireExpect = `{"findings":["shrunk","emptied"],"for":"90m","reason":"<why>"}`
	wireOrder  = `{"reason":"<why> & what for","lock_id":"","anyway":true,"restore_purged":true}`
)

// wireState has resources and outputs of all sorts.
func wireState(serial, size string) string {
	return `{"version":4,"terraform_version":"1.9.` + serial + `","serial":` + serial + `,"lineage":"5ad8",
 "outputs":{"a":{"value":{"x":["<` + size + `>"]},"type":["object",{"x":["list","string"]}]},"b":{"value":"s` + size +
		`","type":"string","sensitive":true}},
 "resources":[{"module":"module.m[\"k\"]","mode":"managed","type":"aws_vpc","name":"n","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[
  {"index_key":"k","schema_version":` + serial + `,"attributes":{"id":"vpc-1","size":["` + size +
		`"],"policy":"{\"size\":\"` + size + `\"}","secret":"s` + size +
		`","tags":{"a b":"<&>"}},"sensitive_attributes":[[{"type":"get_attr","value":"secret"}]]},
  {"index_key":"only` + serial + `","schema_version":0,"attributes":{"id":"vpc-o` + serial + `"}}]},
  {"mode":"managed","type":"aws_vpc","name":"moved` + serial +
		`","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"index_key":0,"attributes":{"id":"vpc-m"}}]}]}`
}

// wireWorld is a server with all that the answers are of.
func wireWorld(t *testing.T) (c caller, fill *strings.Replacer) {
	_, c, fill = wireWorldOf(t)
	return c, fill
}

// wireWorldOf is wireWorld, and what its server stands on.
func wireWorldOf(t *testing.T) (deps handlers.Deps, c caller, fill *strings.Replacer) {
	deps = testDeps(t)
	deps.Quota = withQuota(t, 1<<30).Quota
	deps.Limits.Requests, deps.Limits.States = 100_000, 100_000
	known := testKeys()
	known[auth.Credentials{Org: acme, Key: "reader"}] = auth.Principal{Org: acme, KeyID: "r1",
		Grant: auth.Grant{Role: auth.Reader}}
	known[auth.Credentials{Org: acme, Key: "run"}] = runOf("r-1", 1, auth.RunApply, "run", 0)
	own := known[auth.Credentials{Org: acme, Key: acmeKey}]
	own.KeyID = wireKey()
	known[auth.Credentials{Org: acme, Key: acmeKey}] = own
	known[auth.Credentials{Org: acme, Key: "internal"}] = internalOwner(own)
	known[auth.Credentials{Org: acme, Key: "summary"}] = shown(own, auth.AccessSummary)
	world := runworld.New(t)
	deps.Keys = ownKeys{}
	deps.Runs, deps.Verifier = world.Service, runKeys{known, world}
	deps.Insights = insight.NewService(world.Service, deps.Policies, nil, time.Now)
	world.Insights = deps.Insights
	c = newCaller(t, startServer(t, deps), acme, acmeKey)
	reader, run := c, c
	reader.key, run.key = "reader", "run"
	openFence(t, deps.States, "run", "r-1", 1)
	run.converse([]step{{"LOCK /api/v1/state/run", wireInfo, 200, ""},
		{"POST /api/v1/state/run?ID=w-1", body(1), 200, ""}})
	reader.converse([]step{{"POST /api/v1/state/x", "", 403, "right_missing"}})
	for _, name := range []string{"/api/v1/state/x", "/terraform/state/e/x"} {
		c.converse([]step{{"POST " + name, wireState("1", "small"), 200, ""},
			{"POST " + name, wireState("2", "large"), 200, ""}})
	}
	for _, name := range []string{"/api/v1/state/locked", "/terraform/state/e/locked"} {
		c.converse([]step{{"LOCK " + name, wireInfo, 200, ""}})
	}
	c.converse([]step{
		{"POST /api/v1/state/x/-/expect", wireExpect, 200, ""},
		{"POST /api/v1/state/x", wireState("1", "small"), 200, ""}, // again, so that a purge finds it in two
		{"POST /api/v1/state/x", wireState("3", "small"), 200, ""},
		{"LOCK /api/v1/state/purged", wireInfo, 200, ""}, {"POST /api/v1/state/purged?ID=w-1", body(1), 200, ""},
		{"POST /api/v1/state/purged?ID=w-1&unlock=true", body(2), 200, ""},
		{"DELETE /api/v1/state/purged/-/versions/1?reason=leaked", "", 200, ""},
		{"POST /api/v1/state/gone", body(1), 200, ""}, {"DELETE /api/v1/state/gone", "", 200, ""},
		{"POST /api/v1/state/vault", `{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}`, 200, ""},
		{"POST /api/v1/state/f/a/one", body(1), 200, ""}, {"POST /api/v1/state/f/b/two", body(1), 200, ""},
		{"POST /upload", oneUpload("<a>"), 200, ""}, {"POST /upload", oneUpload("b"), 200, ""},
	})
	fillWorkspaces(c)
	fillRepositories(t, deps.Repositories)
	fillLayers(t, deps)
	fillPulls(t, deps)
	made := func(reason, serial string) string {
		var kept api.Candidate
		got := c.do("POST /api/v1/state/x/-/candidates?reason="+reason,
			strings.ReplaceAll(wireState(serial, "other"), "hashicorp/aws", "hashicorp/"+reason))
		if err := json.Unmarshal([]byte(got.body), &kept); err != nil || kept.ID == "" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return kept.ID
	}
	open, settled := made("lost", "4"), made("old", "5")
	c.converse([]step{{"POST /api/v1/state/x/-/candidates/" + settled + "/discard", wireOrder, 200, ""}})
	return deps, c, strings.NewReplacer(append(fillRuns(t, world), "{open}", open, "{settled}", settled)...)
}

// TestEveryAnswerIsOfItsType walks every route: what the server says is what package api
// describes, to the byte, and nothing else.
func TestEveryAnswerIsOfItsType(t *testing.T) {
	all, shown := wireRequests(t), map[string]bool{}
	c, fill := wireWorld(t)
	for _, route := range inOrderOfWalk(all) {
		wrong := walkRoute(c, fill, all[route], shown)
		if wrong != nil { // perhaps only because another route has taken what this one needs
			c, fill = wireWorld(t)
			wrong = walkRoute(c, fill, all[route], shown)
		}
		for _, one := range wrong {
			t.Error(one)
		}
	}
	for _, member := range slices.Concat(rarelyShown(), rarelyShownOfRuns()) {
		shown[member] = true
	}
	for _, member := range slices.Sorted(maps.Keys(shown)) {
		if !shown[member] {
			t.Errorf("no answer shows %s", member)
		}
	}
}

// inOrderOfWalk are the routes with those that take most away at the end.
func inOrderOfWalk(all map[string][]wireRequest) []string {
	rank := func(route string) int {
		method, _, _ := strings.Cut(route, " ")
		return slices.Index([]string{"POST", "DELETE"}, method)
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

// walkRoute sends the requests to one route, in their order, and says what is wrong with the answers.
func walkRoute(c caller, fill *strings.Replacer, all []wireRequest, shown map[string]bool) (wrong []error) {
	for _, r := range all {
		asked, _, got := r.send(c, fill)
		if !r.succeeds(got.status) {
			wrong = append(wrong, fmt.Errorf("%s: %d %.300s; list requests that it accepts beside those of its domain, and "+
				"the status of each that it refuses", asked, got.status, got.body))
		} else if got.body != "" && r.method != http.MethodHead {
			as, err := sameOnTheWire(got, r.about)
			if noteShown(as, shown); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", asked, err))
			}
		}
	}
	return wrong
}

// rarelyShownOfRuns are such members of what is said of runs: package runs holds that they are
// filled.
func rarelyShownOfRuns() []string {
	return []string{
		"Assignment.LogFrom", "Stale.What",
		".Digest", ".Directory", ".Lineage", "Approval.From", "Assignment.Carried", "Assignment.Environment",
		"Assignment.NoRefresh", "Assignment.RefreshOnly", "RunOutput.Withheld",
		"Assignment.Outputs", "Assignment.Parallelism", "Assignment.Words", "Cancel.Until", "Executor.Sandbox", "Input.HCL",
		"Input.Sensitive",
		"Lease.Cancel",
		"Lease.Drain", "Pin.PlanFiles", "Run.AutoApprove", "Run.Diagnostics", "Run.Needed", "RunChange.Because",
		"RunChange.Deposed",
		"RunChange.Import", "RunChange.Previous", "RunChange.Reason", "RunChanges.Cut", "RunEvent.RequestID",
		"RunOutputs.Missing",
		"Tool.Calls", ".Calls", "Tool.Digest", "Tool.System", "Run.Follows", "Workspace.PausedReason", "AgentPool.Lender",
		"Agent.Runs", "GateReason.Details", "GateReason.Severity", "Run.Outside",
		"RunAsks.Refused", "RunAsks.More",
		"Insight.Model",
		"Insight.Cut", "Insight.Unread", "InsightChange.Attributes", "InsightChange.Because",
		"InsightChange.DependedBy", "InsightChange.Previous", "InsightChange.Unknown", "InsightCost.Note",
		"InsightFinding.Link", "InsightFinding.Standing", "InsightFinding.Waived",
		"ProjectChange.ActionReason", "ProjectChange.Deposed", "ProjectChange.PreviousAddress",
		"ProjectPlan.Cut", "ProjectPlan.Masked", "Receipt.Masked", "ProjectRun.FilesCut", "ProjectRun.LogsCut",
	}
}

// rarelyShown are members that may be absent, and of which this server has nothing to say: they
// need a token, a damaged or an older state, a thousand states, or a store that is behind.
func rarelyShown() []string {
	return []string{
		"Actor.KeyName", "Actor.Subject", "Expectation.KeyName", "Expectation.Subject", "Expectation.LockID",
		"Version.Subject", "Event.Subject", "Identity.Run", "Event.KeyName", "Output.Deprecated", "OutputValue.Deprecated",
		"Extent.Limited", "Extent.UnreadMore", "Readiness.Reason", "Readiness.AuthStale",
		"Limits.Nodes", "Drift.Cut",
		"LayerRun.ID", "LayerRun.Ended", "Purged.More", "Instance.Deposed", "Resource.Deposed", "IACRunLog.LogCut",
	}
}

// noteShown notes which members of the types of package api a value has that may be absent, and
// which it has not.
func noteShown(v reflect.Value, shown map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noteShown(v.Elem(), shown)
		}
	case reflect.Slice:
		for i := range v.Len() {
			noteShown(v.Index(i), shown)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			noteShown(v.MapIndex(key), shown)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if strings.HasSuffix(field.Tag.Get("json"), ",omitempty") {
				name := v.Type().Name() + "." + field.Name
				shown[name] = shown[name] || !v.Field(i).IsZero()
			}
			if field.IsExported() {
				noteShown(v.Field(i), shown)
			}
		}
	}
}

// typesOf are those of which an answer may be. It need be of none where it may be other text too: the bytes of a
// state, or a log.
func typesOf(o openapi.Operation, got answer) (types []reflect.Type, other bool) {
	for _, f := range o.Failures {
		if f.Status == got.status && !f.Only {
			types = append(types, reflect.TypeFor[api.Failure]())
		}
		if f.Status == got.status {
			types = append(types, f.Instead...)
		}
	}
	media, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	for _, a := range o.Answers {
		for _, content := range a.Contents {
			switch {
			case a.Status != got.status || content.Media != media:
			case content.Type != nil:
				types = append(types, content.Type)
			default:
				other = true
			}
		}
	}
	return types, other
}

// sameOnTheWire decodes an answer strictly, as one of the types that its description names, encodes it again, and
// returns it.
func sameOnTheWire(got answer, o openapi.Operation) (as reflect.Value, err error) {
	types, other := typesOf(o, got)
	for _, one := range types {
		as = reflect.New(one)
		decoder := json.NewDecoder(strings.NewReader(got.body))
		decoder.DisallowUnknownFields()
		if err = decoder.Decode(as.Interface()); err != nil {
			continue
		}
		if _, err := decoder.Token(); err != io.EOF {
			return as, errors.New("something follows the answer")
		}
		// Some answers spell <, > and & as they are, others escape them: to a reader that is the same.
		unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
		again, err := json.Marshal(as.Interface())
		if err == nil && unescaped.Replace(string(again)) != strings.TrimSpace(unescaped.Replace(got.body)) {
			err = fmt.Errorf("as %s\n got %s\nwant %s", one, again, got.body)
		}
		return as, err
	}
	if other {
		return reflect.Value{}, nil
	}
	return reflect.Value{}, fmt.Errorf("%d is of none of %v: %w in %.500s", got.status, types, err, got.body)
}
