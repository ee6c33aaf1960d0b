package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// oneKey lets everybody in who shows any key, as an owner.
type oneKey struct{}

func (oneKey) Verify(_ context.Context, given auth.Credentials, _ auth.Client) (auth.Principal, error) {
	return auth.Principal{Org: given.Org, KeyID: "a1", Grant: auth.Grant{Role: auth.Owner}}, nil
}

// pullRequest is what CI does where one changes what 400 projects use: it plans all of them, 20 at
// once. It returns how many requests had each status.
func pullRequest(t *testing.T, router http.Handler) map[int]int {
	const projects, atOnce = 400, 20
	org := uuid.New()
	var (
		mu      sync.Mutex
		answers = map[int]int{}
		next    atomic.Int64
		all     sync.WaitGroup
	)
	ask := func(method, path, body string) {
		request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		request.SetBasicAuth(org.String(), "key")
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
		mu.Lock()
		defer mu.Unlock()
		answers[answer.Code]++
	}
	for range atOnce {
		all.Go(func() {
			for project := next.Add(1); project <= projects; project = next.Add(1) {
				path := fmt.Sprint("/api/v1/state/project-", project)
				info := fmt.Sprintf(`{"ID":"%s","Operation":"OperationTypePlan","Who":"ci@runner","Version":"1.12.6","Created":"2026-01-31T12:00:00Z"}`, uuid.New())
				ask("GET", path, "") // init
				ask("LOCK", path, info)
				ask("GET", path, "")
				ask("UNLOCK", path, info)
			}
		})
	}
	all.Wait()
	return answers
}

// A pull request of 400 projects is let through by the usual limits, in about a minute.
func TestPullRequestOfManyProjects(t *testing.T) {
	settings, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(64 << 20)
		defer store.Close()
		log := slog.New(slog.DiscardHandler)
		router, err := handlers.NewRouter(handlers.Deps{
			States: state.NewService(store, state.DefaultPolicies{}, time.Now, log), Verifier: oneKey{}, Log: log, Now: time.Now,
			MaxStateBytes: 1 << 20, Limits: limitsOf(settings, middleware.ConnectionLimits{Total: 1000}, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		answers := pullRequest(t, router)
		if answers[http.StatusTooManyRequests] != 0 || answers[http.StatusOK] != 800 || answers[http.StatusNotFound] != 800 {
			t.Errorf("answers by status: %v", answers)
		}
		// The clock is a fake one: what passes of it is what the limit has them wait.
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("it took %v", took)
		} else {
			t.Logf("it took %v", took)
		}
	})
}
