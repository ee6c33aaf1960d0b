package agent_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/agenttest"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/remote"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/suite"
)

// childArg makes this binary an agent, of the folder, the server and the tool that follow.
const childArg = "run-agent-for-test"

func runChild(args []string) error {
	work, server, tool := args[0], args[1], args[2]
	commands, err := machine.NewCommands(context.Background(),
		machine.CommandSettings{Work: work, Shims: true, Open: true})
	if err != nil {
		return err
	}
	executor, err := agent.New(agent.Settings{
		Server: remote.New(client.New(client.Options{Address: server})), PoolToken: args[3], Work: work, Address: server,
		Presentation: api.AgentRegistration{Name: "child"}, Tools: oneTool{"opentofu", "1.12.6", tool, "0123"},
		Commands: commands, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	return executor.Run(context.Background())
}

// However often an agent is killed: each command is begun once, and the log is whole.
func TestKilledAgentGoesOn(t *testing.T) {
	suite.Deep(t)
	made, calls := scriptTool{
		plan:  "for i in 1 2 3 4; do echo plan $i; sleep 0.05; done",
		apply: "for i in 1 2 3 4 5 6 7 8; do echo apply $i; sleep 0.05; done",
	}.make(t)
	work, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	m := agenttest.NewMemory()
	m.Template = api.Assignment{Org: acme.String(), Tool: api.Tool{Name: "opentofu"}, Timeout: 600, Grace: 60,
		MaxLogBytes: 1 << 20}
	m.Configuration = tarOf(t, map[string]string{"main.tf": ""})
	server := httptest.NewServer(agenttest.Handler(m))
	defer server.Close()
	run := m.Queue("prod/network", "apply")
	over := func(stage string) bool {
		for _, p := range m.Reports(run) {
			if p.Stage == stage && p.Last {
				return true
			}
		}
		return false
	}
	approved, kills := false, 0
	for wait := 150 * time.Millisecond; !over("apply"); wait += 20 * time.Millisecond {
		child := exec.Command(os.Args[0], childArg, work, server.URL, made.path, m.PoolToken())
		child.Stderr = t.Output()
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(wait); time.Now().Before(end) && !over("apply"); time.Sleep(5 * time.Millisecond) {
			if over("plan") && !approved {
				approved = true
				m.Approve(run)
			}
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		if kills++; kills > 200 {
			t.Fatal("it never ends")
		}
	}
	t.Logf("killed %d times", kills)
	reports := m.Reports(run)
	if last := reports[len(reports)-1]; last.Outcome != "succeeded" {
		t.Errorf("the run ends with %+v", last)
	}
	for _, one := range []string{"plan", "show", "apply", "output"} {
		if n := countOf(callsOf(t, calls), one); n != 1 {
			t.Errorf("%s was called %d times", one, n)
		}
	}
	want := "[holdfast: apply]\n"
	for i := range 8 {
		want += "apply " + strconv.Itoa(i+1) + "\n"
	}
	if log := m.Log(run, "apply"); !strings.HasSuffix(log, want+"[holdfast: output]\n") ||
		strings.Count(log, "[holdfast: init]") != 1 {
		t.Errorf("the log is %s", log)
	}
	if left, _ := filepath.Glob(filepath.Join(work, "runs", "*", "*", "p", "*", "exit.json")); len(left) > 8 {
		t.Errorf("there is more left than of one stage: %v", left)
	}
}
