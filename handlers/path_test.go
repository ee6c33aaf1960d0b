package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// twinState has two resources, and two outputs, whose names differ in what a query would
// make of a "+".
const twinState = `{"version":4,"serial":1,"lineage":"l","terraform_version":"1.9.0",
	"outputs":{"a_b":{"value":"under","type":"string"}},
	"resources":[{"mode":"managed","type":"aws_instance","name":"r0","provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[
	{"index_key":"a+b@x.com","attributes":{"id":"i-plus"}},{"index_key":"a b@x.com","attributes":{"id":"i-space"}},{"index_key":"a%2Bb@x.com","attributes":{"id":"i-percent"}}]}]}`

// In a path "+" is a plus sign, "%2B" another spelling of it, and "%20" a space.
func TestPlusInAPath(t *testing.T) {
	owner := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	owner.converse([]step{{"POST /api/v1/state/x", twinState, 200, ""}})
	for spelling, id := range map[string]string{"a+b@x.com": "i-plus", "a%2Bb@x.com": "i-plus", "a%20b@x.com": "i-space",
		"a%252Bb@x.com": "i-percent"} {
		got := owner.do("GET /api/v1/resources/aws_instance.r0%5B%22"+spelling+"%22%5D/history?state=x", "")
		if got.status != http.StatusOK || !strings.Contains(got.body, id) || strings.Count(got.body, `"i-`) != 1 {
			t.Errorf("%s: %d %s; want the history of %s alone", spelling, got.status, got.body, id)
		}
	}
	got := owner.do("GET /api/v1/resources/aws_instance.r0%5B%22a+b@x.com%22%5D/history?state=x", "")
	if !strings.Contains(got.body, `"address":"aws_instance.r0[\"a+b@x.com\"]"`) {
		t.Errorf("the answer is about another resource than was asked for: %s", got.body)
	}
}

// What is no name of a state, an output, a version or a candidate is refused in every
// spelling, and the refusal names the byte that was sent.
func TestPlusInNames(t *testing.T) {
	owner := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	owner.converse([]step{
		{"POST /api/v1/state/x", twinState, 200, ""},
		{"GET /api/v1/state/a+b", "", 400, "byte 0x2b"},
		{"GET /api/v1/state/a%2Bb", "", 400, "byte 0x2b"},
		{"GET /api/v1/state/a%20b", "", 400, "byte 0x20"},
		{"POST /api/v1/state/a+b", body(1), 400, "byte 0x2b"},
		{"GET /terraform/state/a+b/p", "", 400, "byte 0x2b"},
		{"GET /terraform/state/e/a+b", "", 400, "byte 0x2b"},
		{"GET /terraform/state/e/a%2Fb", "", 400, "name_invalid"},
		{"GET /api/v1/state/prod%2Fnet", "", 404, "state_not_found"},
		{"GET /api/v1/state/x/outputs/a%5Fb?raw", "", 200, "=under"},
		{"GET /api/v1/state/x/outputs/a+b", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x/outputs/a%20b", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x/versions/+1", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/x/versions/%31", "", 200, "=" + twinState},
		{"GET /api/v1/state/x/candidates/+123456789abcdef", "", 400, "parameter_invalid"},
	})
}
