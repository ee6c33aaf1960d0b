package handlers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/openapi"
)

// exchange is a request that the document has as an example, with what it is answered.
type exchange struct{ request, body string }

// exchanges are the requests of the document's examples, in the order in which they are sent: each
// goes to a server to which those before were sent.
func exchanges() []exchange {
	const state, lock = "/api/v1/state/prod/network",
		`{"ID":"3c9b1b1e-8f0a-4c5d-9e55-1f0f5f6f7a10","Operation":"OperationTypeApply","Who":"ada@engine","Version":"1.12.6"}`
	const workspace = "/api/v1/workspaces/prod/network"
	tfstate := func(serial, size string) string {
		return `{"version":4,"serial":` + serial +
			`,"lineage":"5ad8","terraform_version":"1.12.6","outputs":{"vpc":{"value":"vpc-1","type":"string"}},"resources":[` +
			`{"mode":"managed","type":"aws_vpc","name":"main","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"schema_version":1,"attributes":{"id":"vpc-1","size":"` + size + `"}}]}]}`
	}
	const held = "?ID=3c9b1b1e-8f0a-4c5d-9e55-1f0f5f6f7a10"
	return []exchange{
		{"POST " + state, tfstate("1", "small")},
		{"POST " + state + "/-/lock", lock},
		{"GET " + state + "/-/lock", ""},
		{"GET /api/v1/locks?limit=1", ""},
		{"PUT " + state + held, tfstate("2", "large")},
		{"DELETE " + state + "/-/lock", lock},
		{"GET " + state, ""},
		{"GET " + state + "?version=7", ""},
		{"GET /api/v1/states?prefix=prod/", ""},
		{"GET " + state + "/-/versions?limit=1", ""},
		{"GET " + state + "/-/versions/2/diff", ""},
		{"GET " + state + "/-/outputs", ""},
		{"GET " + state + "/-/outputs/vpc", ""},
		{"POST " + state + "/-/expect", `{"findings":["shrunk"],"for":"1h","reason":"it moves to eu-2"}`},
		{"GET " + state + "/-/expect", ""},
		{"DELETE " + state + "/-/expect?reason=it+stays", ""},
		{"POST " + state + "/-/versions/1/rollback", `{"reason":"the import went wrong"}`},
		{"DELETE " + state + "/-/versions/2?reason=it+had+a+secret", ""},
		{"POST " + state + "/-/lock/release", `{"reason":"her machine is gone"}`},
		{"GET /api/v1/audit?state=prod/network&action=state.write&limit=1", ""},
		{"DELETE " + state, ""},
		{"POST " + state + "/-/undelete", ""},

		{"POST /api/v1/upload", `{"provider":"aws","category":"compute","resource_type":"vm_instance","instances":[{"resource_name":"web-server-01","attributes":{"size":"t2.micro"}}]}`},
		{"GET /api/v1/data?resource_name=web-server-01", ""},
		{"GET /api/v1/data/latest?resource_name=web-server-01", ""},
		{"GET /api/v1/resources?state=prod/network", ""},
		{"GET /api/v1/resources/aws_vpc.main/history?state=prod/network&limit=1", ""},

		{"POST /api/v1/workspaces", `{"name":"prod/network","tool":"opentofu","approvals":1}`},
		{"PATCH " + workspace, `{"plan_ttl":3600}`},
		{"POST " + workspace + "/-/variables", `{"set":[{"kind":"terraform","name":"region","value":"eu-2"}]}`},
		{"GET " + workspace + "/-/variables", ""},
		{"PUT " + workspace + "/-/files/main.tf", "a = 1\n"},
		{"GET " + workspace + "/-/files", ""},
		{"PUT " + workspace + "/-/contents/" + wireDigest, "a = 1\n"},
		{"POST " + workspace + "/-/checksums", `{"sha256":["` + wireDigest + `"]}`},
		{"POST " + workspace + "/-/snapshots", `{"files":[{"path":"network.tf","size":6,"sha256":"` + wireDigest +
			`"}],"parent":1}`},
		{"GET " + workspace + "/-/snapshots/newest/diff", ""},
		{"POST " + workspace + "/-/pull", `{"paths":["network.tf"]}`},
		{"GET " + workspace, ""},

		{"POST /api/v1/runs", `{"workspace":"prod/network","kind":"apply","message":"a larger network"}`},
		{"GET /api/v1/runs?workspace=prod/network", ""},
		{"GET /api/v1/runs/{waits}", ""},
		{"GET /api/v1/runs/{waits}/changes", ""},
		{"GET /api/v1/runs/{waits}/insight", ""},
		{"POST /api/v1/runs/{late}/approve", `{"digest":"{lateDigest}","reason":"as agreed"}`},
		{"POST /api/v1/runs/{waits}/deny", `{"digest":"{digest}","reason":"too large"}`},
		{"POST /api/v1/pools", `{"name":"eu-2","workspaces":["prod/*"]}`},
	}
}

// volatile is what is another one in each answer, and what stands for it in the document.
var volatile = []struct {
	found *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`), "2026-01-31T12:00:00.000000Z"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-01-31T12:00:00Z"},
	{regexp.MustCompile(`"label":"\d{4}-\d\d-\d\d`), `"label":"2026-01-31`}, // the day on which a key was made
	{regexp.MustCompile(`-until-\d{8}"`), `-until-20260207"`},
	{regexp.MustCompile(`"head":"(\d+):[0-9a-f]{64}"`), `"head":"$1:` + wireDigest + `"`},
	{regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}\b`), "01JD8X6Q4ZK4T1M5S0R9V7E2WB"},
	{regexp.MustCompile(`"(hf[a-z]_)[A-Za-z0-9_-]+"`), `"${1}…"`},
	{regexp.MustCompile(`"(last|next)":"[^"]+"`), `"$1":"k3T0…"`},
	{regexp.MustCompile(`"(digest|changes|plan|inputs)":"[0-9a-f]{64}"`), `"$1":"` + wireDigest + `"`},
	{regexp.MustCompile(`"id":"[0-9a-f]{12}"`), `"id":"6f1c0a7e5d2b"`},
	{regexp.MustCompile(`"id":"[0-9a-f]{16}"`), `"id":"6f1c0a7e5d2b9c34"`},
	{regexp.MustCompile(`"(state_)?rate_(left|saved)":\d+`), `"${1}rate_$2":59`},
	{regexp.MustCompile(`"seconds":[0-9.e-]+`), `"seconds":1.5`},
	{regexp.MustCompile(`"sequence":\d+`), `"sequence":7`},
	{regexp.MustCompile(`"request_id":"[^"]*"`), `"request_id":"77a0…"`},
	{regexp.MustCompile(`("webhook":"/webhooks/[a-z]+/)[0-9a-f-]{36}"`), `${1}5b2c0d34-0c1e-4f6a-9b7d-3e8f1a2b4c5d"`},
	{regexp.MustCompile(`"(id|expected)":"[0-9a-f]{8}-[0-9a-f-]{27}"`), `"$1":"5b2c0d34-0c1e-4f6a-9b7d-3e8f1a2b4c5d"`},
	{regexp.MustCompile(`"webhook_secret":"[^"]+"`), `"webhook_secret":"X5t9…"`},
	{regexp.MustCompile(`"public_key":"ssh-ed25519 [^"]+"`), `"public_key":"ssh-ed25519 AAAA…"`},
	{regexp.MustCompile(`(PRIVATE KEY-----\\n)[^-]+(-----END)`), `$1…\n$2`},
}

func shownAs(text string) string {
	for _, v := range volatile {
		text = v.found.ReplaceAllString(text, v.shown)
	}
	return text
}

// withExamples sends the requests of the examples to a server, in their order, and puts them with
// its answers into the descriptions.
func withExamples(t *testing.T, all []openapi.Operation) {
	t.Helper()
	router, err := handlers.NewRouter(testDeps(t))
	if err != nil {
		t.Fatal(err)
	}
	c, fill := wireWorld(t)
	for _, e := range exchanges() {
		asked := fill.Replace(e.request)
		got := c.do(asked, fill.Replace(e.body))
		method, address, _ := strings.Cut(asked, " ")
		o, ok := router.OperationOf(httptest.NewRequest(method, address, http.NoBody))
		if !ok || got.status >= 500 {
			t.Fatalf("%s: %d %s", e.request, got.status, got.body)
		}
		if got.status >= 300 && !strings.Contains(e.request, "version=7") {
			t.Errorf("the example %s %s is refused: %d %s", e.request, e.body, got.status, got.body)
		}
		i := slices.IndexFunc(all, func(one openapi.Operation) bool { return one.ID == o.ID })
		addExample(&all[i], shownAs(asked), shownAs(fill.Replace(e.body)), got.status, got.header.Get("Content-Type"),
			shownAs(got.body))
	}
	withMoreExamples(t, all)
}

// withMoreExamples has every other operation show a request that TestEveryAnswerIsOfItsType sends, with its
// answer, and the answers that go on what they look like.
func withMoreExamples(t *testing.T, all []openapi.Operation) {
	t.Helper()
	sent := wireRequests(t)
	for i := range all {
		if text, ok := byHand()[all[i].ID]; ok {
			addExample(&all[i], all[i].Method+" "+all[i].Path, askedByHand()[all[i].ID],
				all[i].Answers[0].Status, all[i].Answers[0].Contents[0].Media, text)
		}
	}
	c, fill := wireWorld(t)
	for _, route := range slices.Sorted(maps.Keys(sent)) {
		for _, r := range sent[route] {
			i := slices.IndexFunc(all, func(one openapi.Operation) bool { return one.ID == r.about.ID })
			if r.status >= 300 || len(lackingExamples(all[i])) == 0 {
				continue
			}
			asked, body, got := r.send(c, fill)
			if !r.succeeds(got.status) { // what was sent before has taken what this one needs
				c, fill = wireWorld(t)
				asked, body, got = r.send(c, fill)
			}
			addExample(&all[i], shownAs(asked), shownAs(body), got.status, got.header.Get("Content-Type"), shownAs(got.body))
		}
	}
}

// byHand are answers that go on or are another one each time, as they begin; and those to requests that take
// what no other example has, such as a cookie. A test holds the latter to what is described.
func byHand() map[string]string {
	const snapshot = `{"number":3,"id":"` + wireDigest + `","files":2,"bytes":812,"created_at":"2026-01-31T12:00:00Z",` +
		`"created_by":{"key_id":"6f1c0a7e","key_name":"ci"}}`
	return map[string]string{
		"followEvents": "event: ready\nid: 5120-88\ndata: {}\n\nevent: change\nid: 5121-88\n" +
			`data: {"kind":"state","action":"state.write","at":"2026-01-31T12:00:00Z","name":"prod/network","version":3}` + "\n\n",
		"streamRunLog": "event: log\nid: 1-14\n" + `data: {"attempt":1,"offset":0,"bytes":"UGxhbjogMSB0byBhZGQK"}` +
			"\n\nevent: end\n" + `data: {"status":"succeeded","phase":"","attempt":1}` + "\n\n",
		"streamPartitionRun": "event: log\nid: plan:1:14\n" +
			`data: {"attempt":1,"offset":0,"bytes":"UGxhbjogMSB0byBhZGQK","stage":"plan"}` +
			"\n\nevent: end\n" + `data: {"status":"succeeded","phase":"","attempt":1}` + "\n\n",
		"metrics":     "# TYPE holdfast_states gauge\nholdfast_states 214\n",
		"pushArchive": snapshot,
		"putArtefact": `{"kind":"plan","size":20480,"digest":"` + wireDigest + `","attempt":1}`,
		"revokeKey": `{"id":"6f1c0a7e","name":"ci","kind":"key","role":"operator","states":["prod/*"],"expires":null,"from":null,` +
			`"label":"pipelines","used_at":"2026-01-31T12:00:00Z","used_from":"192.0.2.1","own":false,"keys_left":3}`,
		"showHome": `{"runs":{"waiting":[],"waiting_more":false,"orphaned":[],"orphaned_more":false,"failed":[],` +
			`"failed_count":0,"drift":[],"drift_count":0,"drifted":[],"recent":[],` +
			`"days":[{"day":"2026-01-31","outcomes":{"succeeded":12,"failed":1}}]},"states":{"count":214,"more":false,` +
			`"held":["prod/db"],"locks":[{"state":"dev/queue","who":"bob@laptop","since":"2026-01-31T12:00:00Z",` +
			`"seen":"2026-01-31T12:00:00Z"}]},"workspaces":{"count":40,"files":1022,"bytes":812000,"more":false,` +
			`"kinds":[{"kind":"tf","files":980},{"kind":"tfvars","files":42}],"kinds_more":false}}`,
		"runProject": `{"id":"01JD8X6Q4ZK4T1M5S0R9V7E2WB","projectId":"5b2c0d34-0c1e-5f6a-9b7d-3e8f1a2b4c5d",` +
			`"project":"prod/network","type":"plan","status":"success","counts":{"added":1,"changed":0,"destroyed":0},` +
			`"triggeredBy":"ci","planRunId":null,"digest":null,"decision":null,"decidedBy":null,"decidedAt":null,` +
			`"approvalsNeeded":0,"approvals":0,"createdAt":"2026-01-31T12:00:00Z","updatedAt":"2026-01-31T12:00:00Z",` +
			`"logs":"Plan: 1 to add, 0 to change, 0 to destroy.\n","planJson":{"resource_changes":[],"resource_drift":[],` +
			`"output_changes":{}},"fileSnapshot":{"main.tf":"a = 1\n"},"aiSummary":null}`,
		"getStateAtInfra":   exampleState,
		"storeStateAtInfra": `{"status":"success","version":1,"serial":1}`,
		"signOut":           `{"status":"success","ended":1}`,
		"receiveWebhook":    `{"status":"accepted","kind":"push"}`,
		"fetchRepository": `{"name":"infra","url":"https://git.example.com/acme/infra.git","branches":["main"],` +
			`"provider":"gitlab","poll":300,"credential":"token","user":"bot",` +
			`"webhook":"/webhooks/gitlab/5b2c0d34-0c1e-4f6a-9b7d-3e8f1a2b4c5d","status":{"fetched_at":"2026-01-31T12:00:00Z",` +
			`"tried_at":"2026-01-31T12:00:00Z","bytes":4096,"heads":{"main":"89abcdef0123456789abcdef0123456789abcdef"}},` +
			`"created_at":"2026-01-31T12:00:00Z","updated_at":"2026-01-31T12:00:00Z","updated_by":{"key_id":"6f1c0a7e","key_name":"ci"}}`,
		"endSession": `{"status":"success","ended":1}`,
	}
}

// exampleState is a small state.
const exampleState = `{"version":4,"serial":1,"lineage":"5ad8","terraform_version":"1.12.6","outputs":{},"resources":[]}`

// askedByHand are the requests that byHand answers, where they have a body.
func askedByHand() map[string]string {
	return map[string]string{"runProject": `{"mode":"plan"}`, "storeStateAtInfra": exampleState,
		"receiveWebhook": `{"object_kind":"push","ref":"refs/heads/main","after":"89abcdef0123456789abcdef0123456789abcdef"}`}
}

// lackingExamples says which bodies of an operation that can be shown have no example.
func lackingExamples(o openapi.Operation) (lacking []string) {
	if o.Method == http.MethodHead || o.Tag == "Description" || o.Method == http.MethodConnect {
		return nil
	}
	shown := func(c openapi.Content) bool { return strings.HasPrefix(c.Media, "text/") || c.Media == mediaOfJSON }
	some := func(all []openapi.Content) bool {
		return slices.ContainsFunc(all, func(c openapi.Content) bool { return len(c.Examples) > 0 })
	}
	if o.Body != nil && o.Body.Required && slices.ContainsFunc(o.Body.Contents, shown) && !some(o.Body.Contents) {
		lacking = append(lacking, "request")
	}
	for _, a := range o.Answers {
		if a.Status < 300 && slices.ContainsFunc(a.Contents, shown) && !some(a.Contents) {
			lacking = append(lacking, fmt.Sprint(a.Status))
		}
	}
	return lacking
}

// Every operation shows what it is asked and what it answers, wherever that is text.
func TestEveryOperationHasExamples(t *testing.T) {
	for _, o := range operations(t) {
		keptExamples(&o)
		if lacking := lackingExamples(o); len(lacking) > 0 {
			t.Errorf("%s %s (%s) has no example of %s", o.Method, o.Path, o.ID, strings.Join(lacking, ", "))
		}
		text, ok := byHand()[o.ID]
		if !ok || o.Answers[0].Contents[0].Media != mediaOfJSON {
			continue
		}
		where := fmt.Sprintf("%s/responses/%d/content/application~1json/schema", pointerOf(o), o.Answers[0].Status)
		if err := theDocument().accepts(where, []byte(text), o.ID); err != nil {
			t.Error(err)
		}
	}
}

func addExample(o *openapi.Operation, request, sent string, status int, media, answer string) {
	put := func(all []openapi.Content, text string) {
		for i := range all {
			if !strings.HasPrefix(media, all[i].Media) && text == answer {
				continue
			}
			if all[i].Examples == nil {
				all[i].Examples = map[string]openapi.Example{}
			}
			name := fmt.Sprintf("example%d", len(all[i].Examples)+1)
			all[i].Examples[name] = openapi.Example{Summary: request, Value: exampleOf(text)}
			return
		}
	}
	if o.Body != nil && sent != "" {
		put(o.Body.Contents, sent)
	}
	for i := range o.Answers {
		if o.Answers[i].Status == status {
			put(o.Answers[i].Contents, answer)
		}
	}
}

// exampleOf is a body as the document has it.
func exampleOf(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// keptExamples puts the examples of the document that is kept into an operation.
func keptExamples(o *openapi.Operation) {
	put := func(pointer string, all []openapi.Content) {
		for i := range all {
			media := strings.ReplaceAll(all[i].Media, "/", "~1")
			if examples, _ := theDocument().at(pointer + "/content/" + media + "/examples"); len(examples) > 0 {
				all[i].Examples = map[string]openapi.Example{"kept": {}}
			}
		}
	}
	if o.Body != nil {
		put(pointerOf(*o)+"/requestBody", o.Body.Contents)
	}
	for _, a := range o.Answers {
		put(fmt.Sprintf("%s/responses/%d", pointerOf(*o), a.Status), a.Contents)
	}
}
