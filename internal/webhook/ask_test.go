package webhook

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What a receiver answers that is no answer is an error that has nothing of its address.
func TestHostileAnswers(t *testing.T) {
	inside := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside++ }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "the answer was 307"},
		"an error": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "the answer was 418"},
		"no content": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
			"the answer was 204"},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<10))
			}
		}, "the answer was too large"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"decision":"APPROVED"}`)
		}, "no answer"},
	} {
		there := httptest.NewServer(c.answer)
		_, err := NewAsker(loopback(), nil).Ask(t.Context(), Receiver{URL: there.URL + "/s3same"}, "id", []byte("{}"))
		there.Close()
		if err == nil || Shown(err) != c.says || strings.Contains(err.Error(), "s3same") || inside > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One that never ends its answer is not waited for.
func TestSlowAnswer(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"decision":`)
		w.(http.Flusher).Flush()
		close(begun)
		<-end
	}))
	defer there.Close()
	defer close(end)
	asker := &Asker{clientFor(loopback(), nil, time.Hour)}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-begun; stop() }()
	if answer, err := asker.Ask(ctx, Receiver{URL: there.URL}, "id", nil); err == nil {
		t.Errorf("it answered %s", answer)
	}
	if patience := NewAsker(nil, nil).client.Timeout; patience != 30*time.Second {
		t.Errorf("it is waited for for %s", patience)
	}
}

// An address of this machine is not asked unless that is allowed, and a question is signed as notices are.
func TestQuestions(t *testing.T) {
	var got *http.Request
	var body []byte
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		got = r
		_ = json.NewEncoder(w).Encode("fine")
	}))
	defer there.Close()
	to := Receiver{URL: there.URL, Secret: []byte("0123456789012345678901234567890")}
	if _, err := NewAsker(nil, nil).Ask(t.Context(), to, "id", []byte(`{}`)); err == nil || got != nil {
		t.Errorf("an inner address: %v", err)
	}
	answer, err := NewAsker(loopback(), nil).Ask(t.Context(), to, "id-1", []byte(`{"run":"R"}`))
	if err != nil || string(answer) != "\"fine\"\n" {
		t.Fatalf("%s, %v", answer, err)
	}
	want := http.Header{}
	at := got.Header.Get(headerTimestamp)
	sign(want, to.Secret, "id-1", timeOf(t, at), body)
	if want.Get(headerSignature) != got.Header.Get(headerSignature) || got.Header.Get(headerID) != "id-1" {
		t.Errorf("sent %v", got.Header)
	}
}

// Somebody's own authority counts where it is trusted.
func TestQuestionsToServersOfOwnAuthorities(t *testing.T) {
	there := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "fine")
	}))
	defer there.Close()
	roots := x509.NewCertPool()
	roots.AddCert(there.Certificate())
	to := Receiver{URL: there.URL}
	if answer, err := NewAsker(loopback(), nil).Ask(t.Context(), to, "id", nil); err == nil {
		t.Errorf("a stranger answers %s", answer)
	}
	if answer, err := NewAsker(loopback(), roots).Ask(t.Context(), to, "id", nil); err != nil || string(answer) != "fine" {
		t.Errorf("%s, %v", answer, err)
	}
}

func timeOf(t *testing.T, text string) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(n, 0)
}
