//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

// scale is how much TestScale makes of everything.
type scale struct {
	organizations, states, clients int
	lasts                          time.Duration
}

// usualScale fits among the other tests; HOLDFAST_SCALE=full is the size that is promised.
func usualScale() scale {
	if os.Getenv("HOLDFAST_SCALE") == "full" {
		return scale{10_000, 10, 1_000, 5 * time.Minute}
	}
	return scale{200, 10, 50, 8 * time.Second}
}

// TestScale has many clients of many organizations lock, read, write and unlock states through
// three nodes that share a database, each call through another node. Nobody is refused but by a
// rate, each reads what was acknowledged last, at the end each state has as many versions as
// writes were acknowledged, and no node has grown since the first half.
func TestScale(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	s := usualScale()
	l := newCrowd(t, s)
	var memory [2][]int64
	l.run(t, s.lasts/2)
	memory[0] = l.resident(t)
	l.run(t, s.lasts/2)
	memory[1] = l.resident(t)
	began := time.Now()
	states := l.check(t)
	t.Logf("%d organizations x %d states, %d clients, %v: %d cycles (%.0f a second), %d times 429, %d states checked in %.0f s",
		s.organizations, s.states, s.clients, s.lasts, l.cycles.Load(), float64(l.cycles.Load())/s.lasts.Seconds(),
		l.limited.Load(), states, time.Since(began).Seconds())
	for i, before := range memory[0] {
		t.Logf("node %d: %d MiB after the first half, %d MiB after the second", i, before>>20, memory[1][i]>>20)
		if memory[1][i] > before+before/4+64<<20 {
			t.Errorf("node %d grows", i)
		}
	}
}

// crowd are the clients, and what they know of their states.
type crowd struct {
	*cluster
	size    scale
	tenants []holder
	http    *http.Client
	cycles  atomic.Int64
	limited atomic.Int64
}

// holder is an organization, a token of it and its states. One client at a time uses it.
type holder struct {
	id     uuid.UUID
	token  string
	states []kept
}

// kept is what a client knows of a state.
type kept struct {
	writes int // acknowledged
	last   []byte
}

// newCrowd lets clients in with tokens: thousands of keys take minutes to hash.
func newCrowd(t *testing.T, s scale) *crowd {
	t.Helper()
	issuer := oidctest.New(t)
	key := issuer.Add(t, "first", jose.ES256)
	l := &crowd{size: s, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		MaxIdleConnsPerHost: s.clients, MaxIdleConns: 4 * s.clients}}}
	var file strings.Builder
	claims := issuer.Claims(audience, time.Now()).With("exp", time.Now().Add(time.Hour).Unix())
	for range s.organizations {
		id := uuid.New()
		fmt.Fprintf(&file, "[%[1]s]\nname = %[1]s\n[%[1]s.oidc.ci]\nissuer = %[2]s\naudience = %[3]s\nclaims.sub = %[1]s\n"+
			"role = writer\n", id, issuer.URL, audience)
		l.tenants = append(l.tenants, holder{id, key.Sign(t, claims.With("sub", id.String())), make([]kept, s.states)})
	}
	l.cluster = newCluster(t, onMySQL, 3, "HOLDFAST_MAX_IN_FLIGHT=4096")
	// After the cluster's own organization, which the nodes have begun with.
	path := l.dir + "/auth.cfg"
	before, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(before, file.String()...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.nodes {
		if err := poll(func() error {
			_, err := l.ask(i, &l.tenants[s.organizations-1], "GET", "/api/v1/whoami", nil, 200)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// run has the clients work for so long.
func (l *crowd) run(t *testing.T, lasts time.Duration) {
	t.Helper()
	end := time.Now().Add(lasts)
	var all sync.WaitGroup
	for client := range l.size.clients {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 0))
			for time.Now().Before(end) {
				mine := len(l.tenants)/l.size.clients + 1
				of := client + l.size.clients*random.IntN(mine)
				if of >= len(l.tenants) {
					continue
				}
				if err := l.cycle(random, &l.tenants[of], random.IntN(l.size.states)); err != nil {
					t.Error(err)
					return
				}
				l.cycles.Add(1)
			}
		})
	}
	all.Wait()
}

// cycle is what an apply asks of a state.
func (l *crowd) cycle(random *rand.Rand, h *holder, of int) error {
	path, known := pathOfState(of), &h.states[of]
	id := uuid.NewString()
	node := func() int { return random.IntN(len(l.nodes)) }
	if _, err := l.ask(node(), h, "LOCK", path, []byte(lockInfo(id)), 200); err != nil {
		return err
	}
	status := 200
	if known.writes == 0 {
		status = 404
	}
	read, err := l.ask(node(), h, "GET", path, nil, status)
	if err != nil {
		return err
	}
	if status == 200 && !bytes.Equal(read, known.last) {
		return fmt.Errorf("%s of %s: another body than what was acknowledged last, after %d writes", path, h.id, known.writes)
	}
	body := []byte(serialBody(known.writes + 1))
	if _, err := l.ask(node(), h, "POST", path+"?ID="+id, body, 200); err != nil {
		return err
	}
	known.writes, known.last = known.writes+1, body
	_, err = l.ask(node(), h, "UNLOCK", path, []byte(lockInfo(id)), 200)
	return err
}

func pathOfState(of int) string { return fmt.Sprintf("/api/v1/state/app/%d", of) }

// ask sends a request to a node until no rate refuses it, and wants a status.
func (l *crowd) ask(node int, h *holder, method, path string, body []byte, want int) ([]byte, error) {
	for {
		request, err := http.NewRequest(method, l.nodes[node].url+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.SetBasicAuth(h.id.String(), h.token)
		answer, err := l.http.Do(request)
		if err != nil {
			return nil, err
		}
		said, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case answer.StatusCode == http.StatusTooManyRequests:
			l.limited.Add(1)
			seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			if err != nil {
				return nil, errors.New("429 without Retry-After")
			}
			time.Sleep(time.Duration(seconds) * time.Second)
		case answer.StatusCode != want:
			return nil, fmt.Errorf("%s %s of %s: %d, want %d: %.300s", method, path, h.id, answer.StatusCode, want, said)
		default:
			return said, nil
		}
	}
}

// check compares each state's versions with what was acknowledged, and returns how many it looked at.
func (l *crowd) check(t *testing.T) int {
	t.Helper()
	var looked atomic.Int64
	var all sync.WaitGroup
	for first := range 32 {
		all.Go(func() {
			for i := first; i < len(l.tenants); i += 32 {
				if err := l.checkTenant(i, &looked); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return int(looked.Load())
}

func (l *crowd) checkTenant(i int, looked *atomic.Int64) error {
	h := &l.tenants[i]
	for of, known := range h.states {
		if known.writes == 0 {
			continue
		}
		looked.Add(1)
		node := (i + of) % len(l.nodes)
		text, err := l.ask(node, h, "GET", pathOfState(of)+"/-/versions?limit=1", nil, 200)
		if err != nil {
			return err
		}
		var newest api.Versions
		if err := json.Unmarshal(text, &newest); err != nil || len(newest.Versions) != 1 ||
			newest.Versions[0].Number != uint64(known.writes) {
			return fmt.Errorf("%s of %s: %d writes were acknowledged, and there is %.200s, %v", pathOfState(of), h.id,
				known.writes, text, err)
		}
		body, err := l.ask(node, h, "GET", pathOfState(of), nil, 200)
		if err != nil || !bytes.Equal(body, known.last) {
			return fmt.Errorf("%s of %s ends with another body, %v", pathOfState(of), h.id, err)
		}
	}
	return nil
}

// resident is how much memory each node has.
func (l *crowd) resident(t *testing.T) (all []int64) {
	t.Helper()
	for _, n := range l.nodes {
		all = append(all, residentOf(t, n.process.cmd.Process.Pid))
	}
	return all
}
