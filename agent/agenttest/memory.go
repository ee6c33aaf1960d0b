package agenttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// Memory is a server for executors that keeps everything in memory. It passes RunServer. Runs
// go from their plan to their apply when Approve says so.
type Memory struct {
	// Template is what assignments are made of.
	Template api.Assignment
	// Configuration is the archive that every run has.
	Configuration []byte
	// Every is after how many seconds executors are to renew leases; 0 for 1.
	Every int
	// Refuse, if set, is asked before each call, and may fail it.
	Refuse func(call string) error

	mu     sync.Mutex
	agents map[string]string
	runs   []*run
	more   chan struct{}
	tokens int
	drains bool
}

type run struct {
	id, workspace, kind string
	stage, status       string // status: waiting, leased, lost, planned or ended
	attempt             int
	epoch               int64
	logFrom             int64
	agent, key, token   string
	cancel              string
	logs                map[string][]byte
	files               map[string][]byte
	reports             map[string]api.PhaseAnswer
	told                []api.PhaseReport
	renewals            []api.LeaseRenewal
}

// NewMemory returns a server without runs.
func NewMemory() *Memory {
	return &Memory{agents: map[string]string{}, more: make(chan struct{})}
}

// poolToken is the only pool's.
const poolToken = "pool-token"

// PoolToken is what agents register with.
func (m *Memory) PoolToken() string { return poolToken }

// Queue makes a run wait for its plan.
func (m *Memory) Queue(workspace, kind string) (id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id = "run-" + strconv.Itoa(len(m.runs)+1)
	m.runs = append(m.runs, &run{
		id: id, workspace: workspace, kind: kind, stage: "plan", status: "waiting", attempt: 1,
		logs: map[string][]byte{}, files: map[string][]byte{}, reports: map[string]api.PhaseAnswer{},
	})
	m.wake()
	return id
}

// Approve makes a planned run wait for its apply.
func (m *Memory) Approve(id string) {
	m.change(id, func(r *run) { r.stage, r.status, r.key = "apply", "waiting", "" })
}

// Replan makes a planned run wait for another plan.
func (m *Memory) Replan(id string) {
	m.change(id, func(r *run) {
		r.stage, r.status, r.key, r.attempt = "plan", "waiting", "", r.attempt+1
		clear(r.logs)
		clear(r.files)
	})
}

// PlannedElsewhere has another executor make another plan of a planned run.
func (m *Memory) PlannedElsewhere(id string) { m.change(id, func(r *run) { r.attempt++ }) }

// Lose takes a run from its executor, and has it wait again.
func (m *Memory) Lose(id string) {
	m.change(id, func(r *run) {
		r.epoch++
		r.status, r.key, r.token = "waiting", "", ""
	})
}

// Forget makes all executors strangers.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.agents)
}

// Orphan notes that a run's executor gives no sign of life. Nobody has decided anything.
func (m *Memory) Orphan(id string) {
	m.change(id, func(r *run) { r.status = "lost" })
}

// Resolve ends a run of which its executor has said nothing for long.
func (m *Memory) Resolve(id string) {
	m.change(id, func(r *run) { r.epoch, r.status = r.epoch+1, "ended" })
}

// Cancel asks for a run's end.
func (m *Memory) Cancel(id, level string) { m.change(id, func(r *run) { r.cancel = level }) }

func (m *Memory) change(id string, do func(*run)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do(m.run(id))
	m.wake()
}

func (m *Memory) run(id string) *run {
	i := slices.IndexFunc(m.runs, func(r *run) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return m.runs[i]
}

func (m *Memory) wake() {
	close(m.more)
	m.more = make(chan struct{})
}

// Await returns when ready, which is asked after each change, or with an error when the context
// ends.
func (m *Memory) Await(ctx context.Context, ready func() bool) error {
	for {
		m.mu.Lock()
		more := m.more
		m.mu.Unlock()
		if ready() {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("it has not come about: %w", ctx.Err())
		}
	}
}

// Reports returns what was reported of a run, in order.
func (m *Memory) Reports(id string) []api.PhaseReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.run(id).told)
}

// Renewals returns the signs of life of a run.
func (m *Memory) Renewals(id string) []api.LeaseRenewal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.run(id).renewals)
}

// Drains reports whether an executor has said that it claims nothing new.
func (m *Memory) Drains() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drains
}

// Token returns the newest token of a run.
func (m *Memory) Token(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.run(id).token
}

// Log returns a stage's log.
func (m *Memory) Log(id, stage string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.run(id).logs[stage])
}

// Artefact returns a file of a run; nil if there is none.
func (m *Memory) Artefact(id, kind string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.run(id).files[kind]
}

func (m *Memory) refuse(call string) error {
	if m.Refuse == nil {
		return nil
	}
	return m.Refuse(call)
}

// Register implements agent.Server.
func (m *Memory) Register(_ context.Context, token string, r api.AgentRegistration) (api.Agent, error) {
	if err := m.refuse("register"); err != nil {
		return api.Agent{}, err
	}
	if token != poolToken {
		return api.Agent{}, fault.New(fault.CredentialsWrong, "no pool has this token")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens++
	id := "agent-" + strconv.Itoa(m.tokens)
	m.agents[id] = "secret-of-" + id
	return api.Agent{ID: id, Pool: "default", Name: r.Name, Secret: m.agents[id]}, nil
}

// Claim implements agent.Server.
func (m *Memory) Claim(ctx context.Context, as agent.Identity, claim api.AgentClaim) (*api.Assignment, error) {
	if err := m.refuse("claim"); err != nil {
		return nil, err
	}
	enough := time.NewTimer(time.Duration(claim.Wait) * time.Second)
	defer enough.Stop()
	for {
		found, more, err := m.claim(as, claim)
		if found != nil || err != nil || claim.Draining || claim.Wait == 0 {
			return found, err
		}
		select {
		case <-more:
		case <-enough.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *Memory) claim(as agent.Identity, claim api.AgentClaim) (*api.Assignment, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if secret, ok := m.agents[as.ID]; !ok || secret != as.Secret {
		return nil, nil, fault.New(fault.CredentialsWrong, "there is no such agent")
	}
	if claim.Draining {
		m.drains = true
		m.wake()
	}
	for _, r := range m.runs {
		if r.agent == as.ID && r.key == claim.Key && (r.status == "leased" || r.status == "lost") {
			return m.assignment(r), nil, nil
		}
	}
	for _, r := range m.runs {
		if r.status == "waiting" && !claim.Draining {
			m.tokens++
			r.status, r.agent, r.key, r.token = "leased", as.ID, claim.Key, "token-"+strconv.Itoa(m.tokens)
			r.epoch++
			r.logFrom = int64(len(r.logs[r.stage]))
			return m.assignment(r), nil, nil
		}
	}
	return nil, m.more, nil
}

func (m *Memory) assignment(r *run) *api.Assignment {
	a := m.Template
	a.Run, a.Workspace, a.Kind, a.Stage, a.Attempt, a.Epoch, a.Token = r.id, r.workspace, r.kind, r.stage, r.attempt,
		r.epoch, r.token
	a.StateToken, a.LogFrom = r.token, r.logFrom
	a.StateAddress, a.Lease = "/api/v1/state/"+r.workspace, time.Now().Add(45*time.Second)
	if r.stage == "apply" {
		for _, kind := range []string{"plan", "lock_file", "plan_files"} {
			if content, ok := r.files[kind]; ok {
				a.Carried = append(a.Carried, describe(kind, r.attempt, content))
			}
		}
	}
	return &a
}

func describe(kind string, attempt int, content []byte) api.Artefact {
	sum := sha256.Sum256(content)
	return api.Artefact{Kind: kind, Size: int64(len(content)), Digest: hex.EncodeToString(sum[:]), Attempt: attempt}
}

// held calls do with the run that the caller has.
func (m *Memory) held(call string, hold agent.Hold, do func(*run) error) error {
	if err := m.refuse(call); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.run(hold.Run)
	if r == nil || hold.Token == "" || r.token != hold.Token || r.status != "leased" && r.status != "lost" {
		return fault.New(fault.EpochOld, "this executor has the run no more")
	}
	return do(r)
}

// Lease implements agent.Server.
func (m *Memory) Lease(ctx context.Context, hold agent.Hold, renewal api.LeaseRenewal) (lease api.Lease, err error) {
	enough := time.NewTimer(time.Duration(renewal.Wait) * time.Second)
	defer enough.Stop()
	for first := true; ; first = false {
		var more <-chan struct{}
		err := m.held("lease", hold, func(r *run) error {
			if first {
				r.status = "leased"
				r.renewals = append(r.renewals, renewal)
				m.wake()
			}
			lease = api.Lease{Epoch: r.epoch, Until: time.Now().Add(45 * time.Second), Every: max(m.Every, 1), Cancel: r.cancel}
			more = m.more
			return nil
		})
		levels := []string{"soft", "hard"}
		switch {
		case err != nil && !first: // it hears of that the next time
			return lease, nil
		case err != nil || slices.Index(levels, lease.Cancel) > slices.Index(levels, renewal.Cancel):
			return lease, err
		}
		select {
		case <-more:
		case <-enough.C:
			return lease, nil
		case <-ctx.Done():
			return lease, ctx.Err()
		}
	}
}

// AppendLog implements agent.Server.
func (m *Memory) AppendLog(_ context.Context, hold agent.Hold, offset int64, piece []byte) (end int64, err error) {
	err = m.held("log", hold, func(r *run) error {
		log := r.logs[hold.Stage]
		end = int64(len(log))
		if offset > end {
			return fault.New(fault.LogGap, "the log ends at %d", end)
		}
		common := min(int64(len(piece)), end-offset)
		for i := range common {
			if piece[i] != log[offset+i] {
				end = offset + i
				return fault.New(fault.LogMismatch, "the log has other bytes from %d on", end)
			}
		}
		r.logs[hold.Stage] = append(log, piece[common:]...)
		end = int64(len(r.logs[hold.Stage]))
		m.wake()
		return nil
	})
	return end, err
}

// PutArtefact implements agent.Server.
func (m *Memory) PutArtefact(_ context.Context, hold agent.Hold, described api.Artefact, content io.ReadSeeker) error {
	raw, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return m.held("artefact", hold, func(r *run) error {
		got := describe(described.Kind, described.Attempt, raw)
		had, ok := r.files[described.Kind]
		if got.Digest != described.Digest || got.Size != described.Size || ok && !bytes.Equal(had, raw) {
			return fault.New(fault.FileMismatch, "the run has a file of this kind already, or it is not what it is said to be")
		}
		r.files[described.Kind] = raw
		return nil
	})
}

// OpenArtefact implements agent.Server.
func (m *Memory) OpenArtefact(_ context.Context, hold agent.Hold, kind string,
	_ int) (content io.ReadCloser, err error) {
	err = m.held("artefact", hold, func(r *run) error {
		raw, ok := r.files[kind]
		if !ok {
			return fault.New(fault.RunFileNotFound, "there is no such file")
		}
		content = io.NopCloser(bytes.NewReader(raw))
		return nil
	})
	return content, err
}

// OpenConfiguration implements agent.Server.
func (m *Memory) OpenConfiguration(_ context.Context, hold agent.Hold) (content io.ReadCloser, err error) {
	err = m.held("configuration", hold, func(*run) error {
		content = io.NopCloser(bytes.NewReader(m.Configuration))
		return nil
	})
	return content, err
}

// Report implements agent.Server.
func (m *Memory) Report(_ context.Context, hold agent.Hold, r api.PhaseReport) (answer api.PhaseAnswer, err error) {
	if err := m.refuse("report"); err != nil {
		return answer, err
	}
	m.mu.Lock()
	had := m.run(hold.Run)
	key := fmt.Sprint(r.Stage, "/", r.Attempt, "/", r.Epoch, "/", r.Phase)
	if r.Outcome != "succeeded" && r.Outcome != "failed" && r.Outcome != "cancelled" {
		m.mu.Unlock()
		return answer, fault.New(fault.RunInvalid, "there is no outcome %q", r.Outcome)
	}
	if had != nil && hold.Token != "" && hold.Token == had.token {
		if answer, ok := had.reports[key]; ok {
			m.mu.Unlock()
			return answer, nil
		}
	}
	m.mu.Unlock()
	err = m.held("", hold, func(known *run) error {
		answer = api.PhaseAnswer{Continue: !r.Last && r.Outcome == "succeeded"}
		known.reports[key], known.told = answer, append(known.told, r)
		if !answer.Continue {
			known.status = "ended"
			if r.Stage == "plan" && r.Outcome == "succeeded" {
				known.status = "planned"
			}
		}
		m.wake()
		return nil
	})
	return answer, err
}

// Changed is closed when something happens that changes what the server knows.
func (m *Memory) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.more
}
