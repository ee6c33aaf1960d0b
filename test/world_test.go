//go:build e2e

package test

import (
	"fmt"
	"net"
	"slices"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

type worldKey struct{}

// world is what one script has around it.
type world struct {
	t             testing.TB
	server        *server
	organizations map[string]organization
	database      *ownDatabase // nil without one
	slow          *slowSenders // nil before the first
	tokens        tokens
	idle          []net.Conn
}

func newWorld(env *testscript.Env) *world {
	t := env.T().(testing.TB)
	return &world{
		t:             t,
		server:        newServer(env.WorkDir, slices.Clone(env.Vars)),
		organizations: map[string]organization{},
		tokens:        tokens{t: t},
	}
}

// end stops what the script started, and asserts that it stops well.
func (w *world) end(t testing.TB) {
	for _, conn := range w.idle {
		conn.Close()
	}
	if err := w.server.end(); err != nil {
		t.Error(err)
	}
	left := processesIn(w.server.dir) // such as the commands of runs, which outlive their server
	for pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(left) > 0 && !t.Failed() {
		t.Errorf("processes are left: %v", left)
	}
	if t.Failed() {
		t.Logf("the end of the server's log:\n%s", w.server.logTail(15))
	}
}

// command is one word of the scripts' language.
type command func(w *world, ts *testscript.TestScript, args []string) error

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range map[string]command{
		"organization": addOrganization,
		"as":           actAs,
		"setting":      addSettings,
		"database":     useDatabase,
		"service":      startService,
		"key":          addKey,
		"serve":        serve,
		"server-stop":  serverStop,
		"server-kill":  serverKill,
		"server-start": serverStart,
		"backend":      backend,
		"expand":       expand,
		"http":         request,
		"await":        await,
		"release":      release,
		"capture":      capture,
		"certificate":  certificate,
		"lose-answers": loseAnswers,
		"issuer":       issue,
		"token":        sign,
		"raw":          raw,
		"bomb":         throwBomb,
		"memory":       memory,
		"slow":         slow,
		"hung-up":      hungUp,
		"open-files":   limitFiles,
		"example":      example,
		"page":         runPage,
		"repository":   addRepository,
		"idle":         idle,
		"stream":       stream,
	} {
		all[name] = func(ts *testscript.TestScript, negated bool, args []string) {
			if negated {
				ts.Fatalf("! has no meaning before %s", name)
			}
			if err := run(ts.Value(worldKey{}).(*world), ts, args); err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
	return all
}

func wantArgs(args []string, least, most int) error {
	if len(args) < least || len(args) > most {
		return fmt.Errorf("%d arguments; doc.go says how it is used", len(args))
	}
	return nil
}
