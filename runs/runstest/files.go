package runstest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

func fileOf(run runs.Run, kind runs.FileKind) runs.FileRef {
	return runs.FileRef{Ref: run.Ref(), Kind: kind, Attempt: 1}
}

// digestOf is a file's digest in its usual form.
func digestOf(pieces ...string) string { return hex.EncodeToString(hash(strings.Join(pieces, ""))) }

// putPieces keeps the pieces of a file that is not complete, and describes it.
func putPieces(t *testing.T, store runs.Store, ref runs.FileRef, pieces ...string) runs.File {
	t.Helper()
	file := runs.File{FileRef: ref, Digest: digestOf(pieces...), Pieces: len(pieces)}
	for i, p := range pieces {
		if err := store.PutPiece(t.Context(), ref, "u", i, []byte(p)); err != nil {
			t.Fatalf("PutPiece: %v", err)
		}
		file.Size += int64(len(p))
	}
	return file
}

func complete(t *testing.T, store runs.Store, file runs.File) runs.File {
	t.Helper()
	return must[runs.File](t, "CompleteFile")(store.CompleteFile(t.Context(), file, "u", allowAll))
}

// putFile stores a file and wants it back.
func putFile(t *testing.T, store runs.Store, ref runs.FileRef, pieces ...string) runs.File {
	t.Helper()
	file := complete(t, store, putPieces(t, store, ref, pieces...))
	wantFile(t, store, file, pieces...)
	return file
}

func wantFile(t *testing.T, store runs.Store, file runs.File, pieces ...string) {
	t.Helper()
	suite.Equal(t, "FileOf", file, must[runs.File](t, "FileOf")(store.FileOf(t.Context(), file.FileRef)))
	for i, want := range pieces {
		got := must[[]byte](t, "Piece")(store.Piece(t.Context(), file.FileRef, i))
		if !bytes.Equal(got, []byte(want)) {
			t.Fatalf("piece %d has %d bytes, want %d others", i, len(got), len(want))
		}
	}
	_, err := store.Piece(t.Context(), file.FileRef, len(pieces))
	suite.Fault(t, "a piece behind the last", err, fault.RunFileNotFound)
}

func wantNoFile(t *testing.T, store runs.Store, ref runs.FileRef) {
	t.Helper()
	_, err := store.FileOf(t.Context(), ref)
	suite.Fault(t, "FileOf", err, fault.RunFileNotFound)
	_, err = store.Piece(t.Context(), ref, 0)
	suite.Fault(t, "Piece", err, fault.RunFileNotFound)
}

func checkFiles(t *testing.T, store runs.Store) {
	m := newMaker()
	run := m.pending(t, store, "w", runs.Plan)
	ref := fileOf(run, runs.FilePlan)
	wantNoFile(t, store, ref)
	file := putPieces(t, store, ref, "a\x00\xff", string(bytes.Repeat([]byte{7}, 1<<20)), "c")
	wantNoFile(t, store, ref)
	if files := must[[]runs.File](t, "FilesOf")(store.FilesOf(t.Context(), run.Ref())); len(files) > 0 {
		t.Errorf("a file that is not complete is listed: %v", files)
	}
	if err := store.PutPiece(t.Context(), ref, "u", 0, []byte("again")); err != nil {
		t.Fatalf("PutPiece: %v", err)
	}
	suite.Equal(t, "CompleteFile", file, complete(t, store, file))
	wantFile(t, store, file, "again", string(bytes.Repeat([]byte{7}, 1<<20)), "c")

	second := ref
	second.Attempt = 2
	all := []runs.File{file, putFile(t, store, second, "second"), putFile(t, store, fileOf(run, runs.FileLock), "lock"),
		putFile(t, store, fileOf(m.pending(t, store, "w", runs.Plan), runs.FilePlan), "other")}
	got := must[[]runs.File](t, "FilesOf")(store.FilesOf(t.Context(), run.Ref()))
	for _, f := range all[:3] {
		if !slices.Contains(got, f) {
			t.Errorf("FilesOf lacks %v", f)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d files, want 3", len(got))
	}
	none := fileOf(m.run("w", runs.Plan), runs.FilePlan)
	suite.Fault(t, "PutPiece of a run that isn't there", store.PutPiece(t.Context(), none, "u", 0, []byte("x")),
		fault.RunNotFound)
	_, err := store.CompleteFile(t.Context(), runs.File{FileRef: none, Pieces: 0}, "u", allowAll)
	suite.Fault(t, "CompleteFile of a run that isn't there", err, fault.RunNotFound)
	suite.Fault(t, "PutPiece of 4 MiB",
		store.PutPiece(t.Context(), fileOf(run, runs.FileOutputs), "u", 0, make([]byte, 4<<20)), fault.BodyTooLarge)
}

func checkFileAllow(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	file, refusal := putPieces(t, store, fileOf(run, runs.FilePlan), "a"), errors.New("no")
	_, err := store.CompleteFile(t.Context(), file, "u", func(r runs.Run) error {
		suite.Equal(t, "what allow sees", run, r)
		return refusal
	})
	if err != refusal {
		t.Errorf("error %v, want allow's own", err)
	}
	wantNoFile(t, store, file.FileRef)
	suite.Equal(t, "CompleteFile", file, complete(t, store, file))
}

// checkFileStays has a complete file sent again, the same and another one.
func checkFileStays(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	ref := fileOf(run, runs.FilePlan)
	file := putFile(t, store, ref, "one", "two")
	for _, pieces := range [][]string{{"one", "two"}, {"other"}, {"more", "pieces", "than"}} {
		other := putPieces(t, store, ref, pieces...)
		suite.Equal(t, "CompleteFile of one that is there", file, complete(t, store, other))
		wantFile(t, store, file, "one", "two")
	}
	wantBytes(t, store, run.Org, 6)

	// Of two that race to complete, one counts for both.
	race := fileOf(run, runs.FileLock)
	putPieces(t, store, race, "lock")
	made := make([]runs.File, 6)
	together(len(made), func(i int) {
		var err error
		made[i], err = store.CompleteFile(background(), runs.File{FileRef: race, Size: int64(i), Pieces: 1}, "u", allowAll)
		if err != nil {
			t.Errorf("CompleteFile: %v", err)
		}
	})
	for _, f := range made {
		suite.Equal(t, "CompleteFile", made[0], f)
	}
	wantFile(t, store, made[0], "lock")
}

// checkFileWhole completes files of which pieces are missing, or of which there are too many.
func checkFileWhole(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	file := putPieces(t, store, fileOf(run, runs.FilePlan), "one", "two")
	file.Pieces = 3
	if _, err := store.CompleteFile(t.Context(), file, "u", allowAll); err == nil {
		t.Error("a file of which a piece is missing is complete")
	}
	wantNoFile(t, store, file.FileRef)
	file.Pieces = 1
	suite.Equal(t, "CompleteFile", file, complete(t, store, file))
	wantFile(t, store, file, "one")
	wantBytes(t, store, run.Org, 3)

	empty := runs.File{FileRef: fileOf(run, runs.FileOutputs), Digest: digestOf()}
	suite.Equal(t, "CompleteFile", empty, complete(t, store, empty))
	wantFile(t, store, empty)
}

// checkUploads has two uploads of one file go on at once: the file is one of them, whole.
func checkUploads(t *testing.T, store runs.Store) {
	run := newMaker().pending(t, store, "w", runs.Plan)
	ref := fileOf(run, runs.FilePlan)
	put := func(upload string, index int) error {
		return store.PutPiece(t.Context(), ref, upload, index, fmt.Append(nil, upload, index))
	}
	for _, step := range []struct {
		upload string
		index  int
	}{{"a", 0}, {"a", 1}, {"b", 0}, {"b", 1}} {
		if err := put(step.upload, step.index); err != nil {
			t.Fatalf("PutPiece: %v", err)
		}
	}
	file := runs.File{FileRef: ref, Size: 2, Digest: digestOf("b"), Pieces: 2}
	suite.Fault(t, "a piece of an upload that another one has replaced", put("a", 1), fault.UploadReplaced)
	suite.Fault(t, "a further piece of it", put("a", 2), fault.UploadReplaced)
	_, err := store.CompleteFile(t.Context(), file, "a", allowAll)
	suite.Fault(t, "its completion", err, fault.UploadReplaced)
	wantNoFile(t, store, ref)
	wantBytes(t, store, run.Org, 4)
	file.Pieces = 3
	_, err = store.CompleteFile(t.Context(), file, "b", allowAll)
	suite.Fault(t, "an upload of which a piece is missing", err, fault.RunInvalid)
	file.Pieces = 2
	suite.Equal(t, "CompleteFile", file,
		must[runs.File](t, "CompleteFile")(store.CompleteFile(t.Context(), file, "b", allowAll)))
	if err := put("a", 0); err != nil {
		t.Errorf("PutPiece of a file that is complete: %v", err)
	}
	wantFile(t, store, file, "b0", "b1")
	wantBytes(t, store, run.Org, 4)
}

func wantBytes(t *testing.T, store runs.Store, org uuid.UUID, want int64) {
	t.Helper()
	if got := bytesOf(t, store, org); got != want {
		t.Errorf("%d bytes are kept, want %d", got, want)
	}
}

func bytesOf(t *testing.T, store runs.Store, org uuid.UUID) int64 {
	t.Helper()
	return must[runs.Tally](t, "Tally")(store.Tally(t.Context(), org)).Bytes
}

// checkBytes follows what is kept through every way in which it grows and shrinks.
func checkBytes(t *testing.T, store runs.Store) {
	m := newMaker()
	wantBytes(t, store, m.org, 0)
	run := m.pending(t, store, "w", runs.Plan)
	log, ref := logOf(run), fileOf(run, runs.FilePlan)
	appendLog(t, store, log, "12345")
	wantBytes(t, store, m.org, 12)
	must[int64](t, "AppendLog")(store.AppendLog(t.Context(), log, 0, []runs.LogPiece{piece(0, "again")}, allowAll))
	wantBytes(t, store, m.org, 12)
	file := putPieces(t, store, ref, "123", "45678") // leftovers count, too
	wantBytes(t, store, m.org, 20)
	if err := store.PutPiece(t.Context(), ref, "u", 1, []byte("4")); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, store, m.org, 16)
	complete(t, store, file)
	wantBytes(t, store, m.org, 16)
	other := m.ended(t, store)
	fillRun(t, store, other)
	wantBytes(t, store, m.org, 16+19)
	if err := store.Remove(t.Context(), other.Ref()); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, store, m.org, 16)
	move(t, store, run, runs.Failed)
	if err := store.Strip(t.Context(), run.Ref(), nil, []runs.Stream{"plan"}); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, store, m.org, 4)
}
