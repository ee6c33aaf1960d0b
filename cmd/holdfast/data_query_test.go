package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

const webOne = `{"timestamp":"2026-01-31T12:00:00.000000Z","org_id":"` + someOrg +
	`","data":{"provider":"aws","category":"compute","resource_type":"vm_instance","resource_name":"web-1","attributes":{"size":"t2.micro","id":9007199254740993}}}` + "\n"

func TestQueryPrintsLines(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	if out := s.must("data", "query", "--limit", "1"); out != webOne {
		t.Errorf("printed %s", out)
	}
	for args, want := range map[string]int{
		"": 3, "--provider aws": 3, "--provider gcp": 0, "--category compute --type vm_instance --name web-3": 1,
		"--attr size=t2.micro": 2, "--attr size=t2.micro --attr id=9007199254740993": 1, "--attr size=": 0,
		"--since 2026-01-31T13:00:00Z": 2, "--since 2026-01-31T13:00:00Z --until 2026-01-31T15:00:00+01:00": 1,
		"--since 24h": 0, "--since 400d": 3, "--until 1h": 3,
	} {
		if out := s.must(append([]string{"data", "query"}, strings.Fields(args)...)...); strings.Count(out, "\n") != want {
			t.Errorf("%s: printed\n%s", args, out)
		}
	}
	if out := s.must("data", "query", "--order", "desc", "--limit", "2"); strings.Index(out, "web-3") > strings.Index(out,
		"=f(") {
		t.Errorf("printed\n%s", out)
	}
}

// On a terminal there is a table, in which no name can move the cursor.
func TestQueryPrintsTable(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	s.columns = 120
	out := s.must("data", "query")
	want := "\x1b[1mTIMESTAMP                    PROVIDER  CATEGORY    TYPE                  NAME                      " +
		"ATTRIBUTES\x1b[0m\n" +
		"2026-01-31T12:00:00.000000Z  aws       compute     vm_instance           web-1                     " +
		"{\"size\":\"t2.micro\",\"…\n" +
		"2026-01-31T13:00:00.000000Z  aws       compute     vm_instance           =f(\"x\"),\\r\\n\\x1b[2J       " +
		"{\"size\":\"<&>\"}\n" +
		"2026-01-31T14:00:00.000000Z  aws       compute     vm_instance           web-3                     " +
		"{\"size\":\"t2.micro\"}\n"
	if out != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
	s.environ = append(s.environ, "NO_COLOR=1")
	if out := s.must("data", "query"); strings.Contains(out, "\x1b") {
		t.Errorf("printed\n%s", out)
	}
	if _, _, errs := s.run("data", "query", "--limit", "2"); errs != "There are more than these 2.\n" {
		t.Errorf("stderr %q", errs)
	}
	if out := s.must("data", "query", "--json", "--limit", "1"); out != webOne {
		t.Errorf("printed %s", out)
	}
}

func TestQueryRefuses(t *testing.T) {
	s := newShell(t)
	s.refuse(exitUsage, "there is no key: set HOLDFAST_KEY", "data", "query")
	server := s.serving(reports(t))
	for want, args := range map[string]string{
		"--since: \"yesterday\" is neither":             "--since yesterday",
		"--until: \"-1h\" is neither":                   "--until=-1h",
		"--attr: \"size\" is not name=value":            "--attr size",
		"--attr: \"a=2\" is not name=value, or":         "--attr a=1 --attr a=2",
		"--order: \"up\" is not":                        "--order up",
		"--limit: it is below zero":                     "--limit=-1",
		"--org: \"Acme\" is not an organization's UUID": "--org Acme",
		"the server's address: not a URL":               "--addr 127.0.0.1:7777",
		"unknown flag: --key":                           "--key hfk_x",
	} {
		s.refuse(exitUsage, want, append([]string{"data", "query"}, strings.Fields(args)...)...)
	}
	s.environ = append([]string{"HOLDFAST_KEY=" + auth.NewKey(acme)}, s.environ...)
	s.refuse(exitFailed, "the server answers 401 credentials_wrong: the organization or the key is wrong (request ",
		"data", "query")
	server.Close()
	s.refuse(exitFailed, "connection refused", "data", "query")
}

// All records come in pages, each of which a server has time for.
func TestQueryAsksForPages(t *testing.T) {
	s := &shell{t: t}
	var asked []string
	s.asking(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("cursor")+":"+q.Get("limit"))
		next := map[string]string{"": `"b"`, "b": `"c"`, "c": "null"}[q.Get("cursor")]
		fmt.Fprintf(w, `{"data":[%s],"count":20000,"next":%s,"last":"z"}`, strings.TrimSpace(webOne), next)
	}), auth.NewKey(acme))
	for args, want := range map[string]string{
		"data query":               ":20000 b:20000 c:20000",
		"data query --limit 20000": ":20000",
		"data query --limit 20010": ":20000 b:10",
		"data query --limit 3":     ":3",
	} {
		asked = nil
		if s.must(strings.Fields(args)...); strings.Join(asked, " ") != want {
			t.Errorf("%s asks for %q, want %s", args, asked, want)
		}
	}
}

// A server of another kind, a redirect that would take the key along, half an answer.
func TestQueryTrustsNoAnswer(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		"the server answers 404 Not Found": http.NotFound,
		"the server answers 307": http.RedirectHandler("http://127.0.0.1:9/",
			http.StatusTemporaryRedirect).ServeHTTP,
		"not what a Holdfast server sends": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) },
		"the answer broke off": func(w http.ResponseWriter,
			_ *http.Request) {
			fmt.Fprint(w, `{"data":[`+webOne)
		},
		"broke off; what was shown": func(w http.ResponseWriter,
			_ *http.Request) {
			fmt.Fprint(w, `{"data":[],"count":0`)
		},
		`\x1b[2J`: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			fmt.Fprint(w, `{"message":"\u001b[2J"}`)
		},
	} {
		s := &shell{t: t}
		s.asking(answer, auth.NewKey(acme))
		if code, _, errs := s.run("data", "query"); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("exit %d, stderr %q, want %s", code, errs, want)
		}
	}
}

func TestCredentialsFile(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	environ := s.environ
	file := s.write("credentials", "# of Acme\nexport "+environ[0]+"\n"+strings.Replace(environ[1], "=", "='", 1)+
		"'\n\nHOLDFAST_ORG="+someOrg+"\n")
	s.environ = []string{"HOLDFAST_KEY=wrong", "HOLDFAST_ADDR=http://127.0.0.1:9"}
	if out := s.must("data", "query", "--limit", "1", "--credentials", file); out != webOne {
		t.Errorf("printed %s", out)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "can be read by others (mode 0640)", "data", "query", "--credentials", file)
	s.refuse(exitFailed, ":2: not HOLDFAST_ADDR=…", "data", "query", "--credentials", s.write("bad", "\nPASSWORD=x\n"))
	s.refuse(exitFailed, "no such file", "data", "query", "--credentials", "nowhere")
	s.refuse(exitFailed, "is a folder", "data", "query", "--credentials", t.TempDir())
	s.refuse(exitUsage, "this key doesn't say whose it is", "data", "query", "--credentials",
		s.write("short", "HOLDFAST_KEY=short"))
}
