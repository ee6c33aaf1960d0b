package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/sandbox"
)

// Where the executor is root, commands can be somebody else, who reads nothing of what it notes.
func TestCommandsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run commands as somebody else")
	}
	r, _ := scripted(t, scriptTool{plan: `id -u; echo made > made.txt; cat ../assignment.json ../log.masked ../../../agent.json ../../../../agent.json; ls ../p`})
	r.settings.Tools = r.settings.Tools.(oneTool).forAll(t)
	r.settings.User = &agent.User{UID: 65534, GID: 65534}
	commands, err := machine.NewCommands(t.Context(), machine.CommandSettings{Shims: true,
		Work: r.settings.Work, User: r.settings.User, Open: true, Network: sandbox.Network{Open: true},
	})
	if err != nil {
		t.Skip("a command of another user can't be run here: ", err)
	}
	r.settings.Commands = commands
	r.start()
	run := r.server.Queue("prod/network", "apply")
	if last := r.ended(run, "plan"); last.Outcome != "succeeded" {
		t.Fatalf("the run ends with %+v\n%s", last, r.server.Log(run, "plan"))
	}
	log := r.server.Log(run, "plan")
	if !strings.Contains(log, "65534\n") || strings.Contains(log, "claim_key") ||
		strings.Contains(log, "[holdfast: prepare]\n[holdfast") || strings.Count(log, "Permission denied") < 3 {
		t.Errorf("the log is %s", log)
	}
	if r.server.Artefact(run, "plan_files") == nil {
		t.Error("the file that planning made is not kept")
	}
}

// forAll is the same tool where everybody reaches it.
func (o oneTool) forAll(t *testing.T) oneTool {
	t.Helper()
	folder, err := os.MkdirTemp("", "tool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	text, err := os.ReadFile(o.path)
	o.path = filepath.Join(folder, "tool")
	if err := errors.Join(err, os.Chmod(folder, 0o755), os.WriteFile(o.path, text, 0o755),
		os.Chmod(o.path, 0o755)); err != nil {
		t.Fatal(err)
	}
	return o
}
