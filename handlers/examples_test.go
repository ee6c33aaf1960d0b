package handlers_test

import (
	"encoding/json"
	"fmt"
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
	const state, lock = "/api/v1/state/prod/network", `{"ID":"3c9b1b1e-8f0a-4c5d-9e55-1f0f5f6f7a10","Operation":"OperationTypeApply","Who":"ada@engine","Version":"1.12.6"}`
	const workspace = "/api/v1/workspaces/prod/network"
	tfstate := func(serial, size string) string {
		return `{"version":4,"serial":` + serial + `,"lineage":"5ad8","terraform_version":"1.12.6","outputs":{"vpc":{"value":"vpc-1","type":"string"}},"resources":[` +
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
		{"POST " + workspace + "/-/checksums", `{"sha256":["` + wireDigest + `"]}`},
		{"POST " + workspace + "/-/snapshots", `{"files":[{"path":"network.tf","size":6,"sha256":"` + wireDigest + `"}],"parent":1}`},
		{"GET " + workspace + "/-/snapshots/newest/diff", ""},
		{"POST " + workspace + "/-/pull", `{"paths":["network.tf"]}`},
		{"GET " + workspace, ""},

		{"POST /api/v1/runs", `{"workspace":"prod/network","kind":"apply","message":"a larger network"}`},
		{"GET /api/v1/runs/{waits}", ""},
		{"GET /api/v1/runs/{waits}/changes", ""},
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
	{regexp.MustCompile(`01[0-9A-HJKMNP-TV-Z]{24}\b`), "01JD8X6Q4ZK4T1M5S0R9V7E2WB"},
	{regexp.MustCompile(`"(hf[a-z]_)[A-Za-z0-9_-]+"`), `"${1}…"`},
	{regexp.MustCompile(`"(last|next)":"[^"]+"`), `"$1":"k3T0…"`},
	{regexp.MustCompile(`"(digest|changes|plan|inputs)":"[0-9a-f]{64}"`), `"$1":"` + wireDigest + `"`},
	{regexp.MustCompile(`"seconds":[0-9.e-]+`), `"seconds":1.5`},
	{regexp.MustCompile(`"sequence":\d+`), `"sequence":7`},
	{regexp.MustCompile(`"request_id":"[^"]*"`), `"request_id":"77a0…"`},
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
		addExample(&all[i], shownAs(asked), shownAs(fill.Replace(e.body)), got.status, got.header.Get("Content-Type"), shownAs(got.body))
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
