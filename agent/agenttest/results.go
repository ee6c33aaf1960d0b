package agenttest

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

func (s *scene) append(a api.Assignment, offset int64, text string, end int64) {
	s.t.Helper()
	got, err := s.Server().AppendLog(s.ctx, holdOf(a), offset, []byte(text))
	if err != nil || got != end {
		s.t.Fatalf("%q at %d: the log ends at %d, %v; wanted %d", text, offset, got, err, end)
	}
}

func logPieces(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	s.append(a, 0, "one\n", 4)
	s.append(a, 4, "two\n", 8)
	s.append(a, 8, string(bytes.Repeat([]byte("x"), 1<<20)), 8+1<<20)
}

func logOverlap(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	s.append(a, 0, "abcdef", 6)
	s.append(a, 0, "abcdef", 6)    // the same again
	s.append(a, 2, "cd", 6)        // less than there is
	s.append(a, 4, "efgh", 8)      // a tail
	s.append(a, 0, "abcdefghi", 9) // all of it, and more
	end, err := s.Server().AppendLog(s.ctx, holdOf(a), 12, []byte("late"))
	s.refused(err, fault.LogGap)
	if end != 9 {
		t.Errorf("beside the gap the end is %d, wanted 9", end)
	}
	for offset, text := range map[int64]string{4: "eX", 5: "XY", 2: "cdeX"} {
		end, err = s.Server().AppendLog(s.ctx, holdOf(a), offset, []byte(text))
		if s.refused(err, fault.LogMismatch); end != 5 {
			t.Errorf("the log has other bytes than %q from %d on, wanted 5", text, end)
		}
	}
	_, err = s.Server().AppendLog(s.ctx, holdOf(a), 8, []byte("Xyz"))
	s.refused(err, fault.LogMismatch)
	s.append(a, 9, "j", 10) // what was refused has left nothing behind
}

func logEnd(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	s.append(a, 0, "", 0)
	s.append(a, 0, "abc", 3)
	s.append(a, 0, "", 3)
}

func logStages(t *testing.T, s *scene) {
	run := s.Queue(t)
	planned := s.claim("p")
	s.append(planned, 0, "plan", 4)
	s.finishPlan(planned, s.PlanFiles(t, planned))
	s.Approve(t, run)
	s.append(s.claim("a"), 0, "apply", 5)
}

func logTries(t *testing.T, s *scene) {
	a := s.apply()
	s.append(a, 0, "one", 3)
	if a.LogFrom != 0 {
		t.Errorf("the first try's log begins at %d", a.LogFrom)
	}
	s.Expire(t, a.Run) // nothing was begun, so that it is the same attempt still
	s.Expire(t, a.Run) // which comes after a while
	b := s.claim("b")
	if b.Run != a.Run || b.Attempt != a.Attempt || b.LogFrom != 3 {
		t.Fatalf("the next try is of attempt %d, and its log begins at %d; wanted %d and 3", b.Attempt, b.LogFrom, a.Attempt)
	}
	if _, err := s.Server().AppendLog(s.ctx, holdOf(a), 3, []byte("late")); err == nil {
		t.Error("the try before still writes")
	}
	s.append(b, 3, "two", 6)
	if again := s.claim("b"); again.LogFrom != 3 {
		t.Errorf("for who comes back, the log of the try begins at %d", again.LogFrom)
	}
}

func artefacts(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	content := bytes.Repeat([]byte("lock"), 1<<19) // of several pieces
	s.must(s.put(a, "lock_file", content))
	s.must(s.put(a, "lock_file", content)) // the answer was lost
	s.refused(s.put(a, "lock_file", []byte("another")), fault.FileMismatch)
	wrong := describe("plan_files", a.Attempt, []byte("these"))
	err := s.Server().PutArtefact(s.ctx, holdOf(a), wrong, bytes.NewReader([]byte("those")))
	if err == nil {
		t.Error("a file that is not what it is said to be is kept")
	}
	if got := s.read(s.Server().OpenArtefact(s.ctx, holdOf(a), "lock_file", a.Attempt)); !bytes.Equal(got, content) {
		t.Errorf("what comes back has %d bytes, wanted %d", len(got), len(content))
	}
	_, err = s.Server().OpenArtefact(s.ctx, holdOf(a), "plan_files", a.Attempt)
	s.refused(err, fault.RunFileNotFound)
}

func carried(t *testing.T, s *scene) {
	run := s.Queue(t)
	planned := s.claim("p")
	files := s.PlanFiles(t, planned)
	s.finishPlan(planned, files)
	s.Approve(t, run)
	a := s.claim("a")
	got := map[string][]byte{}
	for _, file := range a.Carried {
		attempt := file.Attempt
		if attempt == 0 {
			attempt = a.Attempt
		}
		content := s.read(s.Server().OpenArtefact(s.ctx, holdOf(a), file.Kind, attempt))
		if describe(file.Kind, 0, content).Digest != file.Digest {
			t.Errorf("the file %s is not what the assignment says", file.Kind)
		}
		got[file.Kind] = content
	}
	for _, kind := range []string{"plan", "lock_file", "plan_files"} {
		if want, ok := files[kind]; ok && !bytes.Equal(got[kind], want) {
			t.Errorf("the file %s of the plan is not carried", kind)
		}
	}
}

func reports(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	first, err := s.report(a, "prepare", "succeeded", false)
	s.must(err)
	if !first.Continue {
		t.Errorf("the executor is not to go on: %q", first.Reason)
	}
	again, err := s.report(a, "prepare", "succeeded", false)
	s.must(err)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same report is answered otherwise:\n%s", diff)
	}
	wrong := reportOf(a, "init", "succeeded", false)
	wrong.Outcome = "splendid"
	_, err = s.Server().Report(s.ctx, holdOf(a), wrong)
	s.refused(err, fault.RunInvalid)
}

func failedPhase(t *testing.T, s *scene) {
	s.Queue(t)
	a := s.claim("k")
	answer, err := s.report(a, "init", "failed", true)
	s.must(err)
	if answer.Continue {
		t.Error("the executor is to go on")
	}
	if again, err := s.report(a, "init", "failed", true); err != nil || again.Continue {
		t.Errorf("the last report again, as its answer was lost: %+v, %v", again, err)
	}
	if _, err := s.renew(a, "init"); err == nil {
		t.Error("the lease can still be renewed")
	} else {
		s.refused(err, fault.EpochOld)
	}
	if found := s.try("k", true); found != nil {
		t.Errorf("its key still gives %s", found.Run)
	}
}

// everythingRefused fails unless each call about a run is refused as its executor's no more.
func (s *scene) everythingRefused(a api.Assignment) {
	s.t.Helper()
	_, err := s.renew(a, "plan")
	s.refused(err, fault.EpochOld)
	_, err = s.Server().AppendLog(s.ctx, holdOf(a), 0, []byte("x"))
	s.refused(err, fault.EpochOld)
	s.refused(s.put(a, "lock_file", []byte("x")), fault.EpochOld)
	_, err = s.report(a, a.Stage, "succeeded", false)
	s.refused(err, fault.EpochOld)
}

func lostPlan(t *testing.T, s *scene) {
	run := s.Queue(t)
	a := s.claim("k")
	_, err := s.renew(a, "plan")
	s.must(err)
	s.Expire(t, run)
	s.everythingRefused(a)
	if _, err := s.Server().OpenConfiguration(s.ctx, holdOf(a)); err == nil {
		t.Error("it still reads the configuration")
	}
	if found := s.try("k", true); found != nil {
		t.Errorf("its key still gives %s", found.Run)
	}
}

func lostApply(t *testing.T, s *scene) {
	a := s.apply()
	_, err := s.renew(a, "apply")
	s.must(err)
	s.append(a, 0, "applying", 8)
	s.Expire(t, a.Run)
	if found := s.try("other", false); found != nil {
		t.Errorf("a lost apply is given to somebody else: %s", found.Run)
	}
	found := s.try("apply of "+a.Run, true)
	if found == nil || found.Run != a.Run || found.Epoch != a.Epoch || found.Stage != "apply" {
		t.Fatalf("its executor, which has come back, is given %+v", found)
	}
	_, err = s.renew(a, "apply")
	s.must(err)
	s.append(a, 0, "applying goes on", 16)
	answer, err := s.report(a, "apply", "succeeded", false)
	s.must(err)
	if !answer.Continue {
		t.Errorf("it is not to go on: %q", answer.Reason)
	}
}

func resolvedApply(t *testing.T, s *scene) {
	a := s.apply()
	_, err := s.renew(a, "apply")
	s.must(err)
	s.Expire(t, a.Run)
	s.Resolve(t, a.Run)
	s.everythingRefused(a)
}
