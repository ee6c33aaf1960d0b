package runstest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

func logOf(run runs.Run) runs.LogRef { return runs.LogRef{Ref: run.Ref(), Stream: "plan", Attempt: 1} }

// piece is one whose sealed bytes are more than the plain ones, as sealing makes them.
func piece(offset int64, text string) runs.LogPiece {
	return runs.LogPiece{Offset: offset, Size: int64(len(text)), Sealed: []byte("sealed:" + text)}
}

func allowAll(runs.Run) error { return nil }

// appendLog adds a piece to a log's end.
func appendLog(t *testing.T, store runs.Store, log runs.LogRef, text string) runs.LogPiece {
	t.Helper()
	end := must[int64](t, "LogEnd")(store.LogEnd(t.Context(), log))
	p := piece(end, text)
	if got := must[int64](t,
		"AppendLog")(store.AppendLog(t.Context(), log, end, []runs.LogPiece{p}, allowAll)); got != end+p.Size {
		t.Fatalf("the log ends at %d, want %d", got, end+p.Size)
	}
	return p
}

func wantLog(t *testing.T, store runs.Store, log runs.LogRef, want ...runs.LogPiece) {
	t.Helper()
	got := must[[]runs.LogPiece](t, "ReadLog")(store.ReadLog(t.Context(), log, 0, 1<<40))
	if len(got) == 0 && len(want) == 0 {
		return
	}
	suite.Equal(t, "ReadLog", want, got)
	last := want[len(want)-1]
	if end := must[int64](t, "LogEnd")(store.LogEnd(t.Context(), log)); end != last.Offset+last.Size {
		t.Errorf("the log ends at %d, want %d", end, last.Offset+last.Size)
	}
}

// checkLogOffsets appends at the end, and elsewhere: what was sent twice is there once, and
// there is never a gap.
func checkLogOffsets(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Plan)
	log := logOf(run)
	if end := must[int64](t, "LogEnd")(store.LogEnd(t.Context(), log)); end != 0 {
		t.Errorf("a log that isn't there ends at %d", end)
	}
	wantLog(t, store, log)
	first, second := appendLog(t, store, log, "first\n"), appendLog(t, store, log, "2\x00\xff")
	for _, elsewhere := range []int64{0, 3, 6, 10, 1 << 40} {
		if end := must[int64](t,
			"AppendLog")(store.AppendLog(t.Context(), log, elsewhere, []runs.LogPiece{piece(elsewhere, "more")},
			allowAll)); end != 9 {
			t.Errorf("a piece for a log that ends at %d: the log ends at %d", elsewhere, end)
		}
	}
	wantLog(t, store, log, first, second)

	// Each stream and attempt of each run is a log of its own.
	others := []runs.LogRef{log, log, logOf(m.pending(t, store, "w", runs.Plan))}
	others[0].Stream, others[1].Attempt = "apply", 2
	for i, other := range others {
		wantLog(t, store, other)
		wantLog(t, store, other, appendLog(t, store, other, fmt.Sprint("other", i)))
	}
	wantLog(t, store, log, first, second)
	infos := must[[]runs.LogInfo](t, "LogsOf")(store.LogsOf(t.Context(), run.Ref()))
	ends := map[runs.LogRef]int64{}
	for _, info := range infos {
		ends[info.LogRef] = info.End
	}
	suite.Equal(t, "LogsOf", map[runs.LogRef]int64{log: 9, others[0]: 6, others[1]: 6}, ends)

	none := logOf(m.run("w", runs.Plan))
	_, err := store.AppendLog(t.Context(), none, 0, []runs.LogPiece{piece(0, "x")}, allowAll)
	suite.Fault(t, "AppendLog to a run that isn't there", err, fault.RunNotFound)
}

func checkLogAllow(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	run = update(t, store, run.Ref(), edited(func(r *runs.Run) { r.Epoch = 3 }))
	log, refusal := logOf(run), errors.New("no")
	for _, offset := range []int64{0, 5} {
		_, err := store.AppendLog(t.Context(), log, offset, []runs.LogPiece{piece(offset, "x")}, func(r runs.Run) error {
			suite.Equal(t, "what allow sees", run, r)
			return refusal
		})
		if err != refusal {
			t.Errorf("error %v, want allow's own", err)
		}
	}
	wantLog(t, store, log)
	wantBytes(t, store, run.Org, 0)
	if logs := must[[]runs.LogInfo](t, "LogsOf")(store.LogsOf(t.Context(), run.Ref())); len(logs) > 0 {
		t.Errorf("a refused piece made a log: %v", logs)
	}
	wantRun(t, store, run)
}

// checkLogReads reads from each offset with several limits.
func checkLogReads(t *testing.T, store runs.Store) {
	log := logOf(newMaker().pending(t, store, "w", runs.Plan))
	var all []runs.LogPiece
	for i := range 10 {
		all = append(all, appendLog(t, store, log, strings.Repeat("x", 1+i%3)))
	}
	end := all[9].Offset + all[9].Size
	for offset := range end + 2 {
		from := 0
		for from < len(all) && all[from].Offset+all[from].Size <= offset {
			from++
		}
		for _, limit := range []int64{0, 1, 4, 1 << 40} {
			got := must[[]runs.LogPiece](t, "ReadLog")(store.ReadLog(t.Context(), log, offset, limit))
			if from == len(all) {
				if len(got) > 0 {
					t.Errorf("%d pieces from %d on, which is behind the end", len(got), offset)
				}
				continue
			}
			if len(got) == 0 || from+len(got) > len(all) {
				t.Fatalf("%d pieces from %d on", len(got), offset)
			}
			suite.Equal(t, fmt.Sprintf("the pieces from %d on", offset), all[from:from+len(got)], got)
			wantAbout(t, got, offset, limit, from+len(got) == len(all))
		}
	}
}

// wantAbout wants as many bytes as the limit says, but for a piece at either end.
func wantAbout(t *testing.T, got []runs.LogPiece, offset, limit int64, last bool) {
	t.Helper()
	const largest = 3
	final := got[len(got)-1]
	size := final.Offset + final.Size - offset
	if len(got) > 1 && size > limit+2*largest {
		t.Errorf("%d bytes in %d pieces with a limit of %d", size, len(got), limit)
	}
	if size < limit-2*largest && !last {
		t.Errorf("%d bytes with a limit of %d, and there is more", size, limit)
	}
}

// checkLogReplace puts larger pieces in the place of the last ones.
func checkLogReplace(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	log := logOf(run)
	var was []runs.LogPiece
	for _, text := range []string{"aa", "b", "ccc", "d", "ee"} {
		was = append(was, appendLog(t, store, log, text))
	}
	for _, wrong := range [][]runs.LogPiece{
		{piece(1, "bcccdeef")},               // begins within a piece
		{piece(3, "cccdee")},                 // adds nothing
		{piece(3, "ccc"), piece(7, "eef")},   // with a gap
		{piece(3, "cccd"), piece(6, "deef")}, // of which two have the same
		{piece(3, "cccdeef"), piece(10, "")}, // of which one has nothing
		{piece(10, "f")},                     // behind a gap
		{},
	} {
		_, err := store.AppendLog(t.Context(), log, 9, wrong, allowAll)
		suite.Fault(t, fmt.Sprintf("AppendLog of %v", wrong), err, fault.LogMismatch)
		wantLog(t, store, log, was...)
	}
	merged := []runs.LogPiece{piece(3, "cccd"), piece(7, "eef"), piece(10, "gg")}
	for range 2 { // it may be repeated
		if end := must[int64](t, "AppendLog")(store.AppendLog(t.Context(), log, 9, merged, allowAll)); end != 12 {
			t.Fatalf("the log ends at %d, want 12", end)
		}
		wantLog(t, store, log, was[0], was[1], merged[0], merged[1], merged[2])
	}
	refusal := errors.New("no")
	if _, err := store.AppendLog(t.Context(), log, 12, []runs.LogPiece{piece(0, "aabcccdeefggh")},
		func(runs.Run) error { return refusal }); err != refusal {
		t.Errorf("error %v, want allow's own", err)
	}
	wantLog(t, store, log, was[0], was[1], merged[0], merged[1], merged[2])
	whole := piece(0, "aabcccdeefggh")
	if end := must[int64](t,
		"AppendLog")(store.AppendLog(t.Context(), log, 12, []runs.LogPiece{whole}, allowAll)); end != 13 {
		t.Fatalf("the log ends at %d, want 13", end)
	}
	wantLog(t, store, log, whole, appendLog(t, store, log, "more"))
	wantBytes(t, store, run.Org, int64(len("sealed:aabcccdeefggh")+len("sealed:more")))
}

// checkLogTogether has writers race with pieces that begin anywhere, until the log is whole.
func checkLogTogether(t *testing.T, store runs.Store) {
	log := logOf(newMaker().pending(t, store, "w", runs.Plan))
	text := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	together(4, func(i int) {
		for end := int64(0); end < int64(len(text)); {
			size := min(int64(1+i), int64(len(text))-end)
			got, err := store.AppendLog(background(), log, end, []runs.LogPiece{piece(end, string(text[end:end+size]))},
				allowAll)
			if err != nil {
				t.Errorf("AppendLog: %v", err)
				return
			}
			end = got
		}
	})
	var got []byte
	for _, p := range must[[]runs.LogPiece](t, "ReadLog")(store.ReadLog(t.Context(), log, 0, 1<<40)) {
		got = append(got, bytes.TrimPrefix(p.Sealed, []byte("sealed:"))...)
	}
	suite.Equal(t, "the log", string(text), string(got))
}
