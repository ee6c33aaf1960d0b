package handlers_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/repos/hook"
)

// TestSlowSenderHoldsUpNoOther: who knows a repository's ID and sends deliveries that never arrive, however many, keeps
// none waiting that comes from elsewhere.
func TestSlowSenderHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	h := newHooked(t, repos.Limits{})
	h.git.Repo(t, "infra").Commit("Begin")
	var slow sync.WaitGroup
	defer slow.Wait() // all of them have ended by then
	for range 20 {
		body, end := io.Pipe()
		slow.Go(func() { h.sendFrom("192.0.2.66:1234", "push", "", body) })
		defer func() { _ = end.Close() }()
	}
	time.Sleep(100 * time.Millisecond)
	answered := make(chan int, 1)
	go func() {
		body := `{"ref":"refs/heads/main","after":"` + strings.Repeat("1", 40) + `","sender":{"id":1,"login":"bob"}}`
		answered <- h.sendFrom("198.51.100.7:1234", "push", body, strings.NewReader(body))
	}()
	select {
	case status := <-answered:
		if status != http.StatusAccepted {
			t.Errorf("the delivery was answered %d", status)
		}
	case <-time.After(10 * time.Second):
		t.Error("the delivery waits for those that never arrive")
	}
}

// TestCrowdHoldsUpNoOtherOrganization: deliveries that never arrive, from very many addresses at once, keep none of
// another organization's waiting.
func TestCrowdHoldsUpNoOtherOrganization(t *testing.T) {
	t.Parallel()
	h := newHooked(t, repos.Limits{})
	h.git.Repo(t, "infra").Commit("Begin")
	other := &hooked{Service: h.Service, t: t, route: h.route}
	other.caller = auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	made, secret, err := h.Create(t.Context(), other.caller, "infra", repos.Order{Settings: func(s *repos.Settings) error {
		s.URL, s.Provider, s.Poll = h.git.URL("infra"), hook.GitHub, 24*time.Hour
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	other.made, other.secret = made, []byte(secret)
	var slow sync.WaitGroup
	defer slow.Wait()
	for n := range 1100 {
		body, end := io.Pipe()
		slow.Go(func() { h.sendFrom(fmt.Sprintf("192.0.%d.%d:1234", n/4/256, n/4%256), "push", "", body) })
		defer func() { _ = end.Close() }()
	}
	time.Sleep(time.Second)
	begun := time.Now()
	body := `{"ref":"refs/heads/main","after":"` + strings.Repeat("1", 40) + `","sender":{"id":1,"login":"bob"}}`
	status := other.sendFrom("198.51.100.7:1234", "push", body, strings.NewReader(body))
	if status != http.StatusAccepted {
		t.Errorf("the delivery was answered %d", status)
	}
	if waited := time.Since(begun); waited > 5*time.Second {
		t.Errorf("the delivery waited %v", waited)
	}
}
