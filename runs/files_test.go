package runs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// halted is a content that comes in two halves; between them it says so, and waits.
type halted struct {
	io.Reader
	half        int
	reached, on chan struct{}
}

func newHalted(content []byte) *halted {
	return &halted{Reader: bytes.NewReader(content), half: len(content) / 2, reached: make(chan struct{}),
		on: make(chan struct{})}
}

func (h *halted) Read(p []byte) (int, error) {
	if h.half == 0 {
		close(h.reached)
		<-h.on
		h.half = -1
	}
	if h.half > 0 {
		p = p[:min(len(p), h.half)]
	}
	n, err := h.Reader.Read(p)
	if h.half > 0 {
		h.half -= n
	}
	return n, err
}

// Two uploads of one file that are on their way at once: the one that began last is kept, whole,
// and nothing of the other.
func TestTwoUploadsOfAFileAreNotMixed(t *testing.T) {
	l := newLogged(t)
	p, err := l.VerifyRun(t.Context(), l.Token)
	l.must(err)
	content := [2][]byte{bytes.Repeat([]byte("a"), 5<<20), bytes.Repeat([]byte("b"), 5<<20)}
	var sent [2]*halted
	var done [2]chan error
	for i := range content {
		sent[i], done[i] = newHalted(content[i]), make(chan error)
		sum := sha256.Sum256(content[i])
		go func() {
			_, err := l.PutFile(t.Context(), p, l.Run,
				api.Artefact{Kind: "plan_json", Attempt: 1, Digest: hex.EncodeToString(sum[:])}, sent[i])
			done[i] <- err
		}()
		<-sent[i].reached
	}
	close(sent[0].on)
	if err := <-done[0]; !fault.Is(err, fault.UploadReplaced) {
		t.Errorf("the upload that began first: %v", err)
	}
	close(sent[1].on)
	l.must(<-done[1])
	_, reader, err := l.OpenFile(t.Context(), p, l.Run, runs.FilePlanJSON, 1)
	l.must(err)
	got, err := io.ReadAll(reader)
	if l.must(err); !bytes.Equal(got, content[1]) {
		t.Error("what is kept is not what the second one sent")
	}
	if _, again := l.PutFile(t.Context(), p, l.Run, api.Artefact{Kind: "plan_json", Attempt: 1, Digest: "0"},
		errorReader{}); !fault.Is(again, fault.FileMismatch) {
		t.Errorf("another file in its place: %v", again)
	}
}

// errorReader is a content that nobody should read.
type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("it was read") }

// The lines that a tool printed as JSON are masked as a log is, in whatever pieces they come.
func TestJSONLogIsMaskedByTheServer(t *testing.T) {
	l := newLogged(t, "correct horse")
	p, err := l.VerifyRun(t.Context(), l.Token)
	l.must(err)
	text := []byte(`{"@message":"it is correct horse","x":"Y29ycmVjdCBob3JzZQ=="}` + "\n")
	sum := sha256.Sum256(text)
	described := api.Artefact{Kind: "json_log", Attempt: 1, Digest: hex.EncodeToString(sum[:])}
	for range 2 { // the same again is the same
		_, err = l.PutFile(t.Context(), p, l.Run, described, iotest.OneByteReader(bytes.NewReader(text)))
		l.must(err)
	}
	file, reader, err := l.OpenFile(t.Context(), p, l.Run, runs.FileJSONLog, 1)
	l.must(err)
	got, err := io.ReadAll(reader)
	l.must(err)
	if want := `{"@message":"it is *************","x":"********************"}` + "\n"; string(got) != want ||
		file.Digest != "" {
		t.Errorf("kept is %s, digest %q", got, file.Digest)
	}
}
