package runs_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// logged is a run whose plan goes on, and a reader of its log.
type logged struct {
	*runworld.World
	*runworld.Executor
	t      *testing.T
	caller auth.Principal
}

func newLogged(t *testing.T, secrets ...string) *logged {
	t.Helper()
	w := runworld.New(t)
	for _, secret := range secrets {
		w.Sensitive = append(w.Sensitive, api.Input{Name: "s", Value: secret, Sensitive: true})
	}
	l := &logged{World: w, t: t, caller: auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}}
	_, err := w.Create(t.Context(), l.caller, api.RunOrder{Workspace: "prod/network", Kind: "plan"}, "")
	l.must(err)
	l.Executor = w.Claim(t, l.caller.Org)
	return l
}

func (l *logged) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *logged) ref() runs.LogRef {
	return runs.LogRef{Ref: runs.Ref{Org: l.caller.Org, ID: l.Run}, Stream: runs.Stream(l.Stage), Attempt: l.Attempt}
}

// shown is what a reader is shown now, read in parts of some size.
func (l *logged) shown(part int64) string {
	l.t.Helper()
	var all []byte
	for {
		got, err := l.ReadLog(l.t.Context(), l.caller, l.Run, runs.Stream(l.Stage), 0, int64(len(all)), part)
		l.must(err)
		if len(got.Text) == 0 {
			return string(all)
		}
		all = append(all, got.Text...)
	}
}

// rows is how many pieces the store keeps of the log.
func (l *logged) rows() (n int) {
	l.t.Helper()
	for offset := int64(0); ; {
		pieces, err := l.World.Store.ReadLog(l.t.Context(), l.ref(), offset, 1<<40)
		l.must(err)
		if len(pieces) == 0 {
			return n
		}
		n += len(pieces)
		last := pieces[len(pieces)-1]
		offset = last.Offset + last.Size
	}
}

// How many rows a log has goes by its bytes, and not by how often its executor writes.
func TestLogOfSmallPartsHasFewRows(t *testing.T) {
	for name, size := range map[string]func(i int) int{
		"a byte at a time":   func(int) int { return 1 },
		"less and less":      func(i int) int { return 300 - i },
		"now much, now less": func(i int) int { return []int{70_000, 900, 1, 33_000, 2, 1}[i%6] },
		"lines":              func(i int) int { return 20 + i%100 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, text := newLogged(t, "hunter2"), make([]byte, 0, 1<<20)
			random := rand.New(rand.NewPCG(1, 2))
			for i := range 300 {
				part := make([]byte, size(i))
				for j := range part {
					part[j] = " .:;"[random.IntN(4)]
				}
				l.Log(string(part))
				text = append(text, part...)
			}
			if n, most := l.rows(), len(text)>>16+18; n > most {
				t.Errorf("%d bytes have %d rows, want at most %d", len(text), n, most)
			}
			if got := l.shown(1 << 20); got != string(text) {
				t.Errorf("%d bytes are shown of %d, or others", len(got), len(text))
			}
			l.Restart()
			l.Log("more\n")
			if got := l.shown(5000); got != string(text)+"more\n" {
				t.Error("it is not what it was when the server has begun anew")
			}
		})
	}
}

// What an executor sends without masking it is masked here, however it cuts it, and offsets stay
// what they are. Nobody sees a part of a secret before the rest has come.
func TestLogIsMaskedByTheServer(t *testing.T) {
	const secret = "correct horse battery"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	text := "begin " + secret + " and " + encoded + "; correct horses are " + secret[:9] + "\n" + strings.Repeat("x", 30) +
		secret + "!"
	stars := func(s string) string { return strings.Repeat("*", len(s)) }
	want := strings.NewReplacer(secret, stars(secret), encoded, stars(encoded)).Replace(text)
	for _, restarts := range []bool{false, true} {
		for _, size := range []int{1, 3, 7, len(text)} {
			t.Run(fmt.Sprintf("parts of %d, restarts %v", size, restarts), func(t *testing.T) {
				if size < 7 {
					suite.Deep(t) // each part is a transaction
				}
				l := newLogged(t, secret)
				for from := 0; from < len(text); from += size {
					if restarts {
						l.Restart()
					}
					l.Log(text[from:min(from+size, len(text))])
					shown := l.shown(64)
					if !strings.HasPrefix(want, shown) {
						t.Fatalf("%q is shown", shown)
					}
				}
				if got := l.shown(1 << 20); got != want {
					t.Errorf("it is shown as\n%s\nwant\n%s", got, want)
				}
				l.again(text)
			})
		}
	}
}

// again sends all of a log once more, as an executor does that was started anew.
func (l *logged) again(text string) {
	l.t.Helper()
	p, err := l.VerifyRun(l.t.Context(), l.Token)
	l.must(err)
	before := l.shown(1 << 20)
	end, err := l.AppendLog(l.t.Context(), p, l.Run, runs.Stream(l.Stage), l.Attempt, 0, []byte(text))
	if err != nil || end != int64(len(text)) {
		l.t.Errorf("the same again: the log ends at %d, %v", end, err)
	}
	other := bytes.Replace([]byte(text), []byte("begin"), []byte("began"), 1)
	if _, err := l.AppendLog(l.t.Context(), p, l.Run, runs.Stream(l.Stage), l.Attempt, 0, other); !fault.Is(err,
		fault.LogMismatch) {
		l.t.Errorf("another text in its place: %v", err)
	}
	if l.shown(1<<20) != before {
		l.t.Error("what is shown has changed")
	}
}

// The end of a log that begins like a secret is shown when nothing more can come.
func TestOpenEndOfALogIsShownInTheEnd(t *testing.T) {
	l := newLogged(t, "hunter2")
	l.Log("a hunt")
	if got := l.shown(100); got != "a " {
		t.Errorf("%q is shown while more may come", got)
	}
	l.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Last: true, Message: "it said hunter2",
		Found: []api.Diagnostic{{Severity: "error", Summary: "no hunter2", Detail: "aHVudGVyMg=="}}})
	if got := l.shown(100); got != "a hunt" {
		t.Errorf("%q is shown in the end", got)
	}
	run, err := l.Get(t.Context(), l.caller, l.Run)
	l.must(err)
	if d := run.Diagnostics; strings.Contains(run.Reason, "hunter2") || len(d) != 1 || d[0].Summary != "no ***" ||
		d[0].Detail != "***" {
		t.Errorf("the run shows %q and %v", run.Reason, d)
	}
}

// What a phase did with resources is on the run: how many, how fast, and which took longest.
func TestRunShowsTheWorkOfItsPhases(t *testing.T) {
	l := newLogged(t, "hunter2")
	work := api.Work{Resources: 120, PerSecond: 37.5}
	for i := range 9 {
		work.Slowest = append(work.Slowest,
			api.ResourceTime{Address: "t.r[\"hunter2\"]", Action: "create", Seconds: float64(9 - i)})
	}
	l.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Last: true, Work: work})
	run, err := l.Get(t.Context(), l.caller, l.Run)
	l.must(err)
	got := run.Wire().Phases
	if len(got) != 1 || got[0].Resources != 120 || got[0].PerSecond != 37.5 || len(got[0].Slowest) != 5 ||
		got[0].Slowest[0] != (api.ResourceTime{Address: "t.r[\"***\"]", Action: "create", Seconds: 9}) {
		t.Errorf("the run shows %+v", got)
	}
}
