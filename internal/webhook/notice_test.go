package webhook

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// held is an event with all that one can have, of callers who try to shout.
func held() audit.Event {
	return audit.Event{
		Sequence: 4711, At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Org: acme, Action: audit.CandidateHold,
		State: "prod/network", Version: 7,
		Note: "6cfe64124c473b25: emptied", Reason: "<!channel> @everyone `x` [click](http://evil)\n\u202e" +
			strings.Repeat("é", 1000),
		Actor: audit.Actor{KeyID: "0f3a9c21d4e5", KeyName: "ci", Address: "192.0.2.1", Request: "r-1"},
	}
}

func TestNotice(t *testing.T) {
	body, err := bodyOf(held(), Receiver{Name: "Acme"}, "https://state.example.com/")
	if err != nil {
		t.Fatal(err)
	}
	var n notice
	if err := json.Unmarshal(body, &n); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Acme: a guard kept a write of `prod/network` back (emptied) as candidate 6cfe64124c473b25.",
		"By `ci` from `192.0.2.1`",
		"\nholdfast candidate diff prod/network 6cfe64124c473b25\nholdfast candidate promote prod/network " +
			"6cfe64124c473b25\nholdfast candidate discard prod/network 6cfe64124c473b25\n",
		"\nhttps://state.example.com/ui/states/prod/network?tab=candidates",
	} {
		if !strings.Contains(n.Text, want) {
			t.Errorf("no %q in\n%s", want, n.Text)
		}
	}
	if n.Content != n.Text || len([]rune(n.Text)) > 2000 || n.AllowedMentions.Parse == nil {
		t.Errorf("%d characters, %+v", len([]rune(n.Text)), n.AllowedMentions)
	}
	if n.OrgName != "Acme" || n.KeyName != "ci" || n.Link == "" || len(n.Commands) != 3 || n.ID == "" ||
		n.Reason != held().Reason {
		t.Errorf("%+v", n)
	}
	// What somebody wrote is code in the text: no mention, no end of the code, no other line.
	_, rest, _ := strings.Cut(n.Text, "Reason: `")
	reason, _, _ := strings.Cut(rest, "\n")
	if !strings.HasSuffix(reason, "…`") || strings.ContainsAny(reason, "<>\u202e") || strings.Count(reason, "`") != 1 {
		t.Errorf("the reason stands as %q", reason)
	}
}

// A plan that waits is told as what somebody wants, by them, and with the page on which to decide.
func TestTextOfAPlanThatWaits(t *testing.T) {
	const run = "01JD8X6Q4ZK4T1M5S0R9V7E2WB"
	e := audit.Event{Action: audit.RunWait, Org: acme, Actor: audit.Server(), State: "prod/shop",
		Note: "run " + run + ": anna wants to apply: +0 ~1 -3; waits for 1 of 2 approvals: \"fewer networks\""}
	body, err := bodyOf(e, Receiver{Name: "Acme"}, "https://state.example.com")
	var n notice
	if err != nil || json.Unmarshal(body, &n) != nil {
		t.Fatal(err)
	}
	want := "Acme: a plan of `prod/shop` waits for people: `anna wants to apply: +0 ~1 -3; waits for 1 of 2 approvals: " +
		"\"fewer networks\"`\n"
	if !strings.HasPrefix(n.Text, want) || strings.Contains(n.Text, "By ") ||
		!strings.HasSuffix(n.Text, "\nhttps://state.example.com/ui/runs/"+run) {
		t.Errorf("it says %q", n.Text)
	}
}

// Every event that can be told makes a text, and of nothing but its own words.
func TestTexts(t *testing.T) {
	for _, action := range audit.Actions() {
		for _, e := range []audit.Event{{Action: action, Org: acme},
			{Action: action, Org: acme, State: "x", Version: 3, Note: "<@U1>", Reason: "`"}} {
			body, err := bodyOf(e, Receiver{}, "")
			var n notice
			if err != nil || json.Unmarshal(body, &n) != nil || !strings.HasPrefix(n.Text, acme.String()+": ") ||
				strings.ContainsAny(n.Text, "<>") || n.Link != "" {
				t.Errorf("%s: %v %s", action, err, body)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	e := held()
	id := idOf(e)
	later, other, restored := e, e, e
	later.Sequence++
	other.Org = globex
	restored.At = restored.At.Add(time.Microsecond)
	for _, different := range []audit.Event{later, other, restored} {
		if idOf(different) == id {
			t.Errorf("%+v has the same ID", different)
		}
	}
	if idOf(held()) != id || uuid.Validate(id) != nil {
		t.Errorf("the ID is %s", id)
	}
}

// signed is a receiver with all there is.
type signed struct{ url string }

const exampleSecret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // whsec_ of it is the specification's example

func (s signed) Receiver(uuid.UUID) (Receiver, bool) {
	secret := []byte{49, 242, 144, 246, 191, 6, 41, 138, 171, 79, 8, 212, 60, 63, 8, 44, 246, 72, 163, 98, 218, 45, 164,
		176}
	return Receiver{URL: s.url, Secret: secret, HeaderName: "Authorization", HeaderValue: "Bearer s3same"}, true
}

// A signature is that of the specification's own example.
func TestSignature(t *testing.T) {
	to, _ := signed{}.Receiver(acme)
	header := http.Header{}
	sign(header, to.Secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got := header.Get(headerSignature); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signed %s", got)
	}
	sign(header, nil, "x", time.Now(), nil)
	if unsigned := (http.Header{}); func() bool {
		sign(unsigned, nil, "x", time.Now(),
			nil)
		return unsigned.Get(headerSignature) != ""
	}() {
		t.Error("a signature without a secret")
	}
}

// What docs/notices.md shows to verify a notice takes a real one, and refuses one that was
// changed, one that is old, and one of another secret.
func TestDocumentedVerification(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	page, err := os.ReadFile("../../docs/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/notices.md has no example in Python")
	}
	got := make(chan *http.Request, 1)
	var body []byte
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		got <- r
	}))
	defer h.Close()
	if err := newSender(signed{h.URL}, "", loopback(), nil).try(t.Context(), held()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.Header.Get("Authorization") != "Bearer s3same" {
		t.Errorf("sent %v", r.Header)
	}
	id, at, signature := r.Header.Get(headerID), r.Header.Get(headerTimestamp), r.Header.Get(headerSignature)
	script := filepath.Join(t.TempDir(), "verify.py")
	if err := os.WriteFile(script, []byte(code+`
import sys
id, at, signature, secret = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature}
sys.exit(0 if verified(headers, sys.stdin.buffer.read(), secret) else 3)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body          string
		at, signature string
		secret        string
		want          int
	}{
		"as it came":     {string(body), at, signature, "whsec_" + exampleSecret, 0},
		"a second one":   {string(body), at, "v1,AAAA " + signature, "whsec_" + exampleSecret, 0},
		"changed":        {string(body) + " ", at, signature, "whsec_" + exampleSecret, 3},
		"another time":   {string(body), at + "0", signature, "whsec_" + exampleSecret, 3},
		"another secret": {string(body), at, signature, "whsec_" + strings.Repeat("A", 32), 3},
		"no signature":   {string(body), at, "", "whsec_" + exampleSecret, 3},
	} {
		cmd := exec.CommandContext(t.Context(), python, script, id, c.at, c.signature, c.secret)
		cmd.Stdin = strings.NewReader(c.body)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.want {
			t.Errorf("%s: %d, %v %s; want %d", name, code, err, out, c.want)
		}
	}
	old := http.Header{}
	to, _ := signed{}.Receiver(acme)
	sign(old, to.Secret, id, time.Now().Add(-time.Hour), body)
	cmd := exec.CommandContext(t.Context(), python, script, id, old.Get(headerTimestamp), old.Get(headerSignature),
		"whsec_"+exampleSecret)
	cmd.Stdin = strings.NewReader(string(body))
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("an old one: %v", err)
	}
}

// A link leads to the page of what the notice is about: to the run where there is one.
func TestLinksOfNotices(t *testing.T) {
	const run, site = "01JD8X6Q4ZK4T1M5S0R9V7E2WB", "https://state.example.com"
	for _, c := range []struct {
		event audit.Event
		want  string
	}{
		{audit.Event{Action: audit.RunWait, State: "a/b", Note: "run " + run + ": waits for 1 of 1 approvals"},
			"/ui/runs/" + run},
		{audit.Event{Action: audit.RunApprove, State: "a/b", Note: "run " + run}, "/ui/runs/" + run},
		{audit.Event{Action: audit.DriftFind, State: "a/b", Note: "run " + run + ": 2 resources"}, "/ui/runs/" + run},
		{audit.Event{Action: audit.RunWait, State: "a/b", Note: "run ../../x: y"}, "/ui/audit?state=a%2Fb"},
		{audit.Event{Action: audit.StateWrite, State: "a/b", Version: 3, Note: "shrunk"},
			"/ui/states/a/b?tab=versions&version=3"},
		{audit.Event{Action: audit.LockForce, State: "a/b"}, "/ui/audit?state=a%2Fb"},
		{audit.Event{Action: "login.fail"}, "/ui/audit?action=login.fail"},
	} {
		if got := linkTo(site, c.event); got != site+c.want {
			t.Errorf("%s: %s, want %s", c.event.Action, got, c.want)
		}
	}
	if got := linkTo("", audit.Event{Action: audit.RunWait, Note: "run " + run}); got != "" {
		t.Errorf("without an address: %s", got)
	}
}
