package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// documents is the folder and the project of the document's example.
func documents(t *testing.T, p *fakeProject) (folder string) {
	p.files = map[string]string{"main.tf": "old", "variables.tf": "same", "provider.tf": "theirs"}
	return folderOf(t, map[string]string{"main.tf": "new", "variables.tf": "same", "outputs.tf": "out", "notes.md": "no",
		".terraform/modules/x.tf": "no"})
}

func (p *fakeProject) insight() {
	about := insightOf(p.t, exampleInsight)
	p.run = exampleRunOf(projectAwaiting)
	p.run.AISummary = about
}

// A plan prints what the document prints, word for word, with the log of the tool in between.
func TestInfraPlan(t *testing.T) {
	s := newShell(t)
	p := s.project()
	folder := documents(t, p)
	done := resultOf("success")
	done.Result.AISummary = insightOf(t, exampleInsight)
	p.streams = [][]api.ProjectEvent{{eventOf("run", "plan:1:0", "pending"),
		logOf("plan:1:9", "\x1b[1mplanning\x1b[0m\n"), done}}
	code, out, errs := s.run("infra", "plan", "--project-id", shortName, "--dir", folder)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	wantText(t, "session-plan", out)
	for _, want := range []string{"2 files to upload, 1 file only in cloud, 1 file unchanged\n",
		"⚠ provider.tf exists in cloud but not locally\n  Use 'holdfast infra pull' to download cloud files\n",
		"remembers the project prod/network."} {
		if !strings.Contains(errs, want) {
			t.Errorf("it doesn't say %q:\n%s", want, errs)
		}
	}
	want := []string{"GET /files/checksums", "POST /files", "POST /files", "GET /run/stream?mode=plan"}
	if !slices.Equal(p.asked, want) || p.files["main.tf"] != "new" || p.files["provider.tf"] != "theirs" {
		t.Errorf("asked %q, has %q", p.asked, p.files)
	}
}

// The file in the folder is as good as the flag, and the environment goes before it.
func TestInfraRemembers(t *testing.T) {
	s := newShell(t)
	p := s.project()
	folder := folderOf(t, map[string]string{"main.tf": "x"})
	s.refuse(exitUsage, "which project?", "infra", "pull", "--dir", folder)
	s.refuse(exitFailed, "which project?", "infra", "plan", "--dir", folder) // 2 would be changes
	s.must("infra", "pull", "--dir", folder, "--project-id", shortName)
	file := filepath.Join(folder, projectFileName)
	if text, err := os.ReadFile(file); err != nil || string(text) != "HOLDFAST_PROJECT_ID=prod/network\n" {
		t.Fatalf("%q, %v", text, err)
	}
	s.must("infra", "pull", "--dir", folder)
	if err := os.WriteFile(file, []byte("# of others\nexport HOLDFAST_PROJECT_ID=\"other\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.setenv(envProject, shortName)
	s.must("infra", "pull", "--dir", folder)
	if err := os.WriteFile(file, []byte("what=ever\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("infra", "pull", "--dir", folder)
	s.setenv(envProject, "")
	s.refuse(exitUsage, ".infra:1: not HOLDFAST_PROJECT_ID=", "infra", "pull", "--dir", folder)
	if text, _ := os.ReadFile(file); string(text) != "what=ever\n" {
		t.Errorf("it was changed to %q", text)
	}
	if len(p.asked) != 4 {
		t.Errorf("asked %q", p.asked)
	}
}

// Called by the name of these commands, the program has nothing else, and says so in its texts.
func TestInfraByName(t *testing.T) {
	s := newShell(t)
	p := s.project()
	p.streams = [][]api.ProjectEvent{{eventOf("run", "", "running"), resultOf("success")}}
	var out, errs strings.Builder
	a := s.app(&out, &errs)
	a.program = "/usr/local/bin/infra"
	if code := run(t.Context(), []string{"plan", "--project-id", shortName, "--dir", documents(t, p)}, a); code != exitOK {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	if !strings.Contains(errs.String(), "  Use 'infra pull' to download cloud files\n") {
		t.Errorf("it says\n%s", &errs)
	}
}

// awaits has the project's next stream stop at a question.
func (p *fakeProject) awaits(after ...api.ProjectEvent) {
	p.insight()
	p.streams = [][]api.ProjectEvent{{eventOf("run", "plan:1:0", "pending"), logOf("plan:1:8", "planning"),
		eventOf("status", "plan:1:8", projectAwaiting)}}
	if len(after) > 0 {
		p.streams = append(p.streams, after)
	}
}

func applied() []api.ProjectEvent {
	return []api.ProjectEvent{eventOf("run", "plan:1:8", "running"), logOf("apply:1:9", "applying\n"), resultOf("success")}
}

// An apply asks, goes on from where the stream was, and prints what the document prints.
func TestInfraApply(t *testing.T) {
	for _, answer := range []string{"y\n", "--yes"} {
		s := newLoneShell(t)
		p := s.project()
		p.awaits(applied()...)
		args := []string{"infra", "apply", "--project-id", shortName, "--dir", documents(t, p)}
		if answer == "--yes" {
			args = append(args, answer)
		} else {
			s.interactive, s.stdin = true, answer
		}
		code, out, errs := s.run(args...)
		if code != exitOK || strings.Contains(errs, applyQuestion) != s.interactive {
			t.Fatalf("exit %d: %s", code, errs)
		}
		wantText(t, "session-apply", out)
		if len(p.decided) != 1 || p.decided[0].Digest != goldenSHA {
			t.Errorf("decided %v", p.decided)
		}
		if last := p.asked[len(p.asked)-1]; last != "GET /run/stream?position=plan%3A1%3A8&run="+goldenRun {
			t.Errorf("the last that was asked is %s", last)
		}
	}
}

// Anything but y denies; who may not deny for others still leaves the plan.
func TestInfraDenied(t *testing.T) {
	for answer, refused := range map[string]bool{"n\n": false, "\n": true, "": false} {
		s := newLoneShell(t)
		s.interactive, s.stdin = true, answer
		p := s.project()
		p.awaits()
		if refused {
			p.refuse["POST /runs/"+goldenRun+"/deny"] = api.Failure{Status: "error", Code: "right_missing", Message: "no"}
		}
		code, out, errs := s.run("infra", "apply", "--project-id", shortName, "--dir", documents(t, p))
		if code != exitFailed || !strings.Contains(errs, "nothing was applied: the plan is denied") ||
			strings.Contains(out, "Running apply") {
			t.Errorf("%q: exit %d\n%s%s", answer, code, out, errs)
		}
		if refused != slices.Contains(p.asked, "discard") || refused == (len(p.decided) == 1) {
			t.Errorf("%q: asked %q, decided %v", answer, p.asked, p.decided)
		}
	}
}

// Elsewhere than on a terminal nothing is asked or decided, and the exit code says so.
func TestInfraAwaits(t *testing.T) {
	for _, flag := range []string{"", "--json"} {
		s := newLoneShell(t)
		s.interactive = flag != ""
		p := s.project()
		p.awaits()
		args := []string{"infra", "apply", "--project-id", shortName, "--dir", documents(t, p), flag}
		code, out, errs := s.run(slices.DeleteFunc(args, func(arg string) bool { return arg == "" })...)
		if code != int(exitAwaiting) || len(p.decided) != 0 || strings.Contains(errs, "y/N") {
			t.Errorf("exit %d, decided %v\n%s%s", code, p.decided, out, errs)
		}
		if flag == "" && !strings.Contains(errs, "holdfast run approve "+goldenRun) {
			t.Errorf("it says\n%s", errs)
		}
		var said ranProject
		if flag == "" {
			continue
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil || said.Run.Status != projectAwaiting ||
			!slices.Equal(said.Sync.Uploaded, []string{"main.tf", "outputs.tf"}) {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// Where others have to approve it too, it ends, or waits.
func TestInfraOthersApprove(t *testing.T) {
	for _, wait := range []bool{false, true} {
		s := newLoneShell(t)
		s.interactive, s.stdin = true, "y\n"
		p := s.project()
		p.awaits(append([]api.ProjectEvent{eventOf("run", "", projectAwaiting), eventOf("status", "", projectAwaiting)},
			applied()...)...)
		p.after, p.run.Reason = projectAwaiting, "it needs 2 approvals, and has 1"
		args := []string{"infra", "apply", "--project-id", shortName, "--dir", documents(t, p)}
		want := int(exitAwaiting)
		if wait {
			args, want = append(args, "--wait"), exitOK
		}
		code, out, errs := s.run(args...)
		if code != want || !strings.Contains(errs, "waits for approval: it needs 2 approvals, and has 1.") ||
			strings.Contains(out, "Apply complete. 3 added, 1 changed, 0 destroyed.\n") != wait || len(p.decided) != 1 {
			t.Errorf("exit %d, decided %v\n%s%s", code, p.decided, out, errs)
		}
	}
}

// A stream that is cut off goes on where it was, and no second run is started.
func TestInfraCutOff(t *testing.T) {
	s := newShell(t)
	p := s.project()
	p.streams = [][]api.ProjectEvent{{}, {eventOf("run", "plan:1:0", "running"), logOf("plan:1:4", "one\n")},
		{eventOf("run", "plan:1:4", "running"), logOf("plan:1:8", "two\n"), resultOf("success")}}
	code, out, errs := s.run("infra", "plan", "--project-id", shortName, "--dir", documents(t, p))
	if code != exitOK || !strings.Contains(out, "Running plan...\none\ntwo\n\nChanges: ") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	if p.keys[0] == "" || p.keys[0] != p.keys[1] || p.keys[2] != "" ||
		p.asked[len(p.asked)-1] != "GET /run/stream?position=plan%3A1%3A4&run="+goldenRun {
		t.Errorf("asked %q with %q", p.asked, p.keys)
	}
}

// What goes wrong is said, by the exit code too.
func TestInfraFails(t *testing.T) {
	s := newShell(t)
	p := s.project()
	folder := documents(t, p)
	plan := []string{"infra", "plan", "--project-id", shortName, "--dir", folder}
	failed := resultOf("failed")
	failed.Result.Reason = "the tool has failed"
	p.streams = [][]api.ProjectEvent{{eventOf("run", "", "running"), failed},
		{eventOf("run", "", "running"), {Type: "error", Error: &api.ProjectError{Code: "gone", Message: "it is gone"}}},
		{eventOf("run", "", "running"), resultOf("success")}}
	for _, want := range []string{"has failed: the tool has failed", "the server says gone: it is gone"} {
		if code, _, errs := s.run(plan...); code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
	if code, _, errs := s.run(append(plan, "--detailed-exitcode")...); code != int(exitChanges) {
		t.Errorf("exit %d: %s", code, errs)
	}
	p.refuse["GET /run/stream"] = api.Failure{Status: "error", Code: "run_in_progress",
		Message: "A run is already in progress for this project"}
	if code, _, errs := s.run(plan...); code != exitFailed ||
		!strings.Contains(errs, "A run is already in progress for this project") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.tf"), []byte{0xff}, 0o600); err != nil {
		t.Fatal(err)
	}
	p.files["outputs.tf"] = "changed"
	if code, _, errs := s.run(plan...); code != exitFailed || !strings.Contains(errs, "main.tf is no text") ||
		p.files["outputs.tf"] != "changed" {
		t.Errorf("exit %d, %q: %s", code, p.files, errs)
	}
	s.refuse(exitFailed, "there is nothing to run", "infra", "plan", "--project-id", shortName, "--dir",
		func() string { clear(p.files); return t.TempDir() }())
}

// A pull writes over nothing without a yes, and nowhere but into the folder.
func TestInfraPull(t *testing.T) {
	s := newShell(t)
	p := s.project()
	folder := documents(t, p)
	if err := os.Symlink("/etc/hostname", filepath.Join(folder, "link.tf")); err != nil {
		t.Fatal(err)
	}
	pull := []string{"infra", "pull", "--project-id", shortName, "--dir", folder}
	if code, _, errs := s.run(pull...); code != exitUsage || !strings.Contains(errs, "confirm with --yes") {
		t.Errorf("exit %d: %s", code, errs)
	}
	s.interactive, s.stdin = true, "no\n"
	if code, _, errs := s.run(pull...); code != exitFailed || !strings.Contains(errs, "Write over 1 file in ") {
		t.Errorf("exit %d: %s", code, errs)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(folder, name))
		return string(text)
	}
	if read("main.tf") != "new" || read("provider.tf") != "" {
		t.Fatal("something was written without a yes")
	}
	for _, name := range []string{"../out.tf", ".git/config", ".terraform/modules/x.tf", ".infra", "/abs.tf"} {
		p.files[name] = "bad"
	}
	p.files["link.tf"], p.files["modules/a/main.tf"] = "linked", "deep"
	out := s.must(append(pull, "--yes")...)
	if !strings.HasSuffix(out, "\nDownloaded 4 files, skipped 1, 1 local-only file.\n") ||
		!strings.Contains(out, "  link.tf              modified (overwriting)\n") {
		t.Errorf("it says\n%s", out)
	}
	if read("main.tf") != "old" || read("provider.tf") != "theirs" || read("link.tf") != "linked" ||
		read("modules/a/main.tf") != "deep" || read("outputs.tf") != "out" ||
		read(".terraform/modules/x.tf") != "no" || read(".git/config") != "" || strings.Contains(read(".infra"), "bad") {
		t.Error("the folder is not as it should be")
	}
	var said pulledProject
	if err := json.Unmarshal([]byte(s.must(append(pull, "--json")...)), &said); err != nil || len(said.Skipped) != 5 ||
		!slices.Equal(said.LocalOnly, []string{"outputs.tf"}) {
		t.Errorf("%+v: %v", said, err)
	}
}

// A signal has the run cancelled, and how that ends is shown.
func TestInfraInterrupted(t *testing.T) {
	s := newShell(t)
	p := s.project()
	folder := documents(t, p)
	failed := resultOf("failed")
	failed.Result.Reason = "cancelled"
	p.hold = make(chan struct{})
	p.streams = [][]api.ProjectEvent{{eventOf("run", "", "running"), logOf("plan:1:4", "one\n"), failed}}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out strings.Builder
	var errs lockedWriter
	shown := writerFunc(func(text []byte) (int, error) {
		if strings.Contains(string(text), "one") {
			interrupt()
		}
		return out.Write(text)
	})
	a := s.app(shown, &errs)
	code := run(ctx, []string{"infra", "plan", "--project-id", shortName, "--dir", folder}, a)
	if code != exitFailed || !slices.Contains(p.asked, "cancel") ||
		!strings.Contains(errs.String(), "has failed: cancelled") {
		t.Errorf("exit %d, asked %q: %s", code, p.asked, errs.String())
	}
}

// writerFunc is a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// lockedWriter is one that two may write to, also while it is read.
type lockedWriter struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

func (w *lockedWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Elsewhere than on a terminal it may wait for somebody's yes, too.
func TestInfraWaits(t *testing.T) {
	s := newShell(t)
	p := s.project()
	p.awaits(applied()...)
	code, out, errs := s.run("infra", "apply", "--wait", "--project-id", shortName, "--dir", documents(t, p))
	if code != exitOK || len(p.decided) != 0 ||
		!strings.HasSuffix(out, "\nApply complete. 3 added, 1 changed, 0 destroyed.\n") {
		t.Errorf("exit %d, decided %v\n%s%s", code, p.decided, out, errs)
	}
}
