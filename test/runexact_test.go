//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// exact asserts what an apply that went well leaves behind, whatever died on the way: the log of
// each stage, whole and each line once, and the state with each resource once.
func (b *runBench) exact(run api.Run, resources int) {
	b.Helper()
	if run.Status != "succeeded" {
		b.Errorf("run %s is %s: %s\n%+v\n%s", run.ID, run.Status, run.Reason, run.Diagnostics, b.story(run.ID))
		return
	}
	b.exactLogs(run, resources)
	b.exactState(run, resources)
}

func (b *runBench) exactLogs(run api.Run, resources int) {
	b.Helper()
	logs := map[string]string{"plan": b.log(run, "plan"), "apply": b.log(run, "apply")}
	want := map[string][]string{"plan": {"prepare", "init", "plan", "show"},
		"apply": {"prepare", "init", "apply", "output"}}
	for stream, text := range logs {
		for _, phase := range want[stream] {
			b.once(run, stream, text, "[holdfast: "+phase+"]\n")
		}
		if strings.Contains(text, runSecret) {
			b.Errorf("run %s: the secret is in its log %s", run.ID, stream)
		}
		if strings.Contains(text, "missing") {
			b.Errorf("run %s: its log %s has a gap:\n%s", run.ID, stream, text)
		}
	}
	for i := range resources {
		b.once(run, "apply", logs["apply"], "begin-"+strconv.Itoa(i)+"-\n")
		b.once(run, "apply", logs["apply"], "end-"+strconv.Itoa(i)+"-\n")
		b.once(run, "plan", logs["plan"], fmt.Sprintf("  # terraform_data.made[%d] will be created\n", i))
	}
	if n := strings.Count(logs["apply"], "the word is ***\n"); n != resources {
		b.Errorf("run %s: %d lines with the masked word:\n%s", run.ID, n, logs["apply"])
	}
}

func (b *runBench) once(run api.Run, stream, text, line string) {
	b.Helper()
	if n := strings.Count(text, line); n != 1 {
		b.Errorf("run %s: %q is %d times in its log %s:\n%s", run.ID, line, n, stream, text)
	}
}

// exactState looks at each version: they follow each other without a gap, in one lineage.
func (b *runBench) exactState(run api.Run, resources int) {
	b.Helper()
	versions := collect(b, b.client.Versions(run.Workspace, 0))
	for i, v := range versions { // the newest first
		if want := uint64(len(versions) - i); v.Number != want || v.Lineage != versions[0].Lineage {
			b.Errorf("state %s: version %d of lineage %s is where %d of %s was to be", run.Workspace, v.Number, v.Lineage, want,
				versions[0].Lineage)
		}
		if i > 0 && v.Serial >= versions[i-1].Serial {
			b.Errorf("state %s: serial %d comes behind %d", run.Workspace, versions[i-1].Serial, v.Serial)
		}
	}
	if len(versions) == 0 || run.After != versions[0].Number {
		b.Errorf("state %s: the run left version %d, of %d", run.Workspace, run.After, len(versions))
		return
	}
	if n := len(b.instances(run.Workspace)); n != resources {
		b.Errorf("state %s has %d resources, not %d", run.Workspace, n, resources)
	}
	if more := collect(b, b.client.Candidates(run.Workspace)); len(more) > 0 {
		b.Errorf("state %s has candidates: %+v", run.Workspace, more)
	}
}

// instances are those in a state, which has each one once.
func (b *runBench) instances(name string) map[string]bool {
	b.Helper()
	content, err := b.client.Get(b.Context(), name, client.Which{})
	b.must(err)
	defer content.Close()
	var state struct {
		Resources []struct {
			Type, Name string
			Instances  []struct {
				Key any `json:"index_key"`
			}
		}
	}
	b.must(json.NewDecoder(content).Decode(&state))
	found := map[string]bool{}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			address := fmt.Sprintf("%s.%s[%v]", r.Type, r.Name, i.Key)
			if found[address] {
				b.Errorf("state %s has %s twice", name, address)
			}
			found[address] = true
		}
	}
	return found
}

// clean asserts that nothing is left of runs that ended: no lock, no folder, no command, no
// secret.
func (b *runBench) clean() {
	b.Helper()
	if locks := collect(b, b.client.Locks()); len(locks) > 0 {
		b.Errorf("locks are left: %+v", locks)
	}
	for _, run := range collect(b, b.client.Runs(client.RunsQuery{})) {
		if run.Follows != "" {
			run = b.ended(run.ID) // the server has made it by itself
		}
		if !isOver(run) {
			b.Errorf("run %s is %s", run.ID, run.Status)
		}
	}
	works := []string{b.work}
	for _, a := range b.agents {
		works = append(works, a.work)
	}
	for _, work := range works {
		if err := poll(func() error { return empty(filepath.Join(work, "runs")) }); err != nil {
			b.Error(err)
		}
	}
	for _, a := range b.agents {
		_ = a.process.end(syscall.SIGTERM) // one that was killed has ended
	}
	if left := b.commands(); len(left) > 0 {
		b.Errorf("commands are left: %v", left)
	}
	b.must(filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.Contains(path, "/tools/") {
			return ignoreGone(err)
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(runSecret)) {
			b.Errorf("the secret is in %s", path)
		}
		return ignoreGone(err)
	}))
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func empty(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("run folders are left: %q", left)
	}
	return err
}

// commands are the processes of runs, by their number: shims and what they run, and agents.
func (b *runBench) commands() map[int]string { return processesIn(b.dir) }

// processesIn are those that work in a folder, or name it.
func processesIn(folder string) map[int]string {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	found := map[int]string{}
	for _, path := range all {
		line, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(path), "cwd"))
		if err == nil && pid != os.Getpid() &&
			(bytes.Contains(line, []byte(folder+"/")) || strings.HasPrefix(cwd, folder+"/")) {
			found[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
	return found
}

// endCommands ends what a test that failed has left.
func (b *runBench) endCommands() {
	for pid := range b.commands() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// story is what happened to a run.
func (b *runBench) story(id string) string {
	var text strings.Builder
	for _, e := range collect(b, b.client.RunEvents(id, 0)) {
		fmt.Fprintf(&text, "%s %s: %s -> %s, epoch %d, %s %s\n", e.At.Format("15:04:05.000"), e.Type, e.From, e.To, e.Epoch,
			e.By.KeyID, e.Note)
	}
	return text.String()
}
