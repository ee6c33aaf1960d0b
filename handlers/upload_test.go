package handlers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

const words = `"provider":"aws","category":"compute","resource_type":"vm"`

// oneUpload is an upload of one resource.
func oneUpload(name string) string {
	return fmt.Sprintf(`{%s,"instances":[{"resource_name":%q,"attributes":{"size":"t2.micro"}}]}`, words, name)
}

func TestUpload(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for _, path := range []string{"/api/v1/upload", "/upload"} {
		got := c.do("POST "+path, `{`+words+`,"instances":[{},{"more":1}]}`, "X-Request-ID: r-1")
		want := `{"status":"success","message":"stored 2 instances","org_id":"` + acme.String() +
			`","instances_count":2,"request_id":"r-1","ignored":["/instances/1/more"]}`
		if got.status != 200 || got.body != want {
			t.Errorf("%s: %d %s\nwant 200 %s", path, got.status, got.body, want)
		}
	}
	c.converse([]step{
		{"POST /upload", `{` + words + `,"resource_name":"x","properties":{}}`, 200, `"message":"stored 1 instance","`},
		{"GET /api/v1/data", "", 200, `"count":5,`},
	})
}

func TestUploadOfASecondTime(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	first := c.do("POST /api/v1/upload", oneUpload("a"), "Idempotency-Key: k", "X-Request-ID: r-1")
	again := c.do("POST /upload", oneUpload("a"), "Idempotency-Key: k", "X-Request-ID: r-2")
	if first.status != 200 || again.status != 200 || again.body != first.body ||
		!strings.Contains(first.body, `"request_id":"r-1"`) {
		t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
	}
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("Idempotent-Replayed: %q, then %q", first.header.Get("Idempotent-Replayed"),
			again.header.Get("Idempotent-Replayed"))
	}
	other := c.do("POST /upload", oneUpload("b"), "Idempotency-Key: k")
	if other.status != 422 || !strings.Contains(other.body, "idempotency_key_reused") {
		t.Errorf("another body: %d %s", other.status, other.body)
	}
	for _, key := range []string{"", "a b", strings.Repeat("k", 256)} {
		if got := c.do("POST /upload", oneUpload("b"), "Idempotency-Key: "+key); got.status != 400 ||
			!strings.Contains(got.body, "idempotency_key_invalid") {
			t.Errorf("key %q: %d %s", key, got.status, got.body)
		}
	}
	c.converse([]step{{"GET /api/v1/data", "", 200, `"count":1,`}})
}

func TestUploadRefusals(t *testing.T) {
	padded := func(n int) string { return oneUpload("a") + strings.Repeat(" ", n-len(oneUpload("a"))) }
	tests := []struct {
		name, body string
		status     int
		code       string
		pointers   string
	}{
		{"empty", ``, 400, "upload_malformed", "[]"},
		{"array", `[]`, 400, "upload_malformed", "[]"},
		{"two", oneUpload("a") + oneUpload("b"), 400, "upload_malformed", "[]"},
		{"duplicate", `{"a":[{"b~":1,"b~":2}]}`, 400, "upload_malformed", "[/a/0/b~0]"},
		{"NUL", `{"a":"\u0000"}`, 400, "upload_malformed", "[/a]"},
		{"deep", `{"a":` + strings.Repeat("[", 10), 400, "upload_malformed", "[/a/0/0/0/0/0/0/0/0/0]"},
		{"branched", `{"a":[` + strings.Repeat("{},", 999), 400, "upload_malformed", "[/a/998]"},
		{"rules", `{"provider":"a b","category":"c","instances":[{"attributes":{"":1}},7]}`, 400, "upload_invalid",
			"[/provider /instances/0/attributes/ /instances/1 /resource_type]"},
		{"large", padded(10<<20 + 1), 413, "body_too_large", "[]"},
	}
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for _, tt := range tests {
		got := c.do("POST /api/v1/upload", tt.body)
		var failure api.Failure
		if err := json.Unmarshal([]byte(got.body), &failure); err != nil {
			t.Fatal(err)
		}
		pointers := []string{}
		for _, detail := range failure.Details {
			if detail.Pointer != "" {
				pointers = append(pointers, detail.Pointer)
			}
		}
		if got.status != tt.status || string(failure.Code) != tt.code || fmt.Sprint(pointers) != tt.pointers {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
	}
	c.converse([]step{
		{"GET /api/v1/data", "", 200, `"count":0,`},
		{"POST /upload", padded(10 << 20), 200, ""},
	})
}

func TestUploadMediaTypes(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for header, status := range map[string]int{
		"X-None: x":                      200,
		"Content-Type: application/json": 200,
		"Content-Type: Application/JSON; Charset=\"UTF-8\"": 200,
		"Content-Type: application/vnd.acme.v1+json":        200,
		"Content-Encoding: identity":                        200,
		"Content-Type: ":                                    415,
		"Content-Type: json":                                415,
		"Content-Type: text/json":                           415,
		"Content-Type: image/svg+json":                      415,
		"Content-Type: application/json-seq":                415,
		"Content-Type: application/json; charset=latin1":    415,
		"Content-Type: application/json; charset":           415,
		"Content-Type: application/x-www-form-urlencoded":   415,
		"Content-Encoding: br":                              415,
		"Content-Encoding: deflate":                         415,
		"Content-Encoding: x-gzip":                          415,
		"Content-Encoding: gzip, gzip":                      415,
		"Content-Encoding: identity, gzip":                  415,
	} {
		if got := c.do("POST /upload", oneUpload("a"), header); got.status != status {
			t.Errorf("%s: %d %s, want %d", header, got.status, got.body, status)
		}
	}
}

func TestUploadsOff(t *testing.T) {
	deps := testDeps(t)
	deps.Inventory = nil
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	for _, request := range []string{"POST /upload", "POST /api/v1/upload", "GET /api/v1/data", "GET /api/v1/data/latest",
		"GET /api/v1/data/summary"} {
		if got := c.do(request, oneUpload("a")); got.status != http.StatusNotImplemented ||
			!strings.Contains(got.body, "STORAGE_TYPE") {
			t.Errorf("%s: %d %s", request, got.status, got.body)
		}
	}
}

// Scenario: a stranger sends large bodies. Check: the server asks for the body only after
// it knows the caller, and that the body is JSON of an allowed size.
func TestStrangersBodiesAreNotRead(t *testing.T) {
	server := startServer(t, testDeps(t))
	for credentials, want := range map[string]string{
		"X-API-Key: wrong\r\nX-Org-ID: " + acme.String():                                            "401",
		"X-API-Key: " + acmeKey + "\r\nX-Org-ID: " + acme.String() + "\r\nContent-Type: text/plain": "415",
		"X-API-Key: " + acmeKey + "\r\nX-Org-ID: " + acme.String() + "\r\nX-Long: 1":                "413",
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 20000000\r\n%s\r\n\r\n", credentials)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%q, %v; want %s at once", line, err, want)
		}
	}
}
