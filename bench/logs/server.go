package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/bench/local"
	"github.com/holdfast/holdfast/client"
)

// source is a log that is written, and asked for as it comes.
type source interface {
	write(ctx context.Context, text []byte) error
	// stream is the request for it.
	stream(ctx context.Context) (*http.Request, error)
}

// place is where logs are.
type place interface {
	newLog(ctx context.Context) (source, error)
	// usage is what its process has used.
	usage() (local.Usage, error)
}

// pool is that of the agent which this program is.
const pool = "bench"

// server is Holdfast, with one organization and this program as an agent of it.
type server struct {
	process *local.Process
	client  *client.Client
	org     uuid.UUID
	key     string
	agent   api.Agent
	logs    int
}

func startServer(ctx context.Context, dir, binary string) (*server, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	environ := []string{"HOST=127.0.0.1", "PORT=0", "HOME=" + dir, "HOLDFAST_STATE_RATE_LIMIT=off",
		"HOLDFAST_RATE_LIMIT=off"}
	start := exec.CommandContext(ctx, binary, "init", "--json")
	start.Dir, start.Env = dir, environ
	said, err := start.Output()
	if err != nil {
		return nil, fmt.Errorf("holdfast init: %w", err)
	}
	var made struct {
		Organization uuid.UUID
		Key          string
	}
	if err := json.Unmarshal(said, &made); err != nil {
		return nil, err
	}
	s := &server{org: made.Organization, key: made.Key}
	if s.process, err = local.Start(ctx, dir, environ, binary, "serve"); err != nil {
		return nil, err
	}
	s.client = client.New(client.Options{Address: s.process.URL, Org: s.org, Key: s.key})
	joined, err := s.client.CreatePool(ctx, pool, nil)
	if err == nil {
		s.agent, err = s.client.RegisterAgent(ctx, joined.Token, api.AgentRegistration{Name: pool, BootID: pool})
	}
	return s, err
}

func (s *server) usage() (local.Usage, error) { return s.process.Usage() }

// newLog begins a plan of a workspace of its own.
func (s *server) newLog(ctx context.Context) (source, error) {
	s.logs++
	name, agents := fmt.Sprintf("bench/log%d", s.logs), pool
	secret := "correct horse battery staple"
	_, err := s.client.CreateWorkspace(ctx, api.WorkspaceChange{Name: name, Pool: &agents})
	if err == nil {
		err = s.client.ChangeVariables(ctx, name,
			api.VariablesChange{Set: []api.VariableValue{{Kind: "terraform", Name: "password", Value: secret, Sensitive: true}}})
	}
	if err == nil {
		_, err = s.client.PushArchive(ctx, name, bytes.NewReader(archive()), "", nil)
	}
	if err == nil {
		_, err = s.client.CreateRun(ctx, api.RunOrder{Workspace: name, Kind: "plan"}, "")
	}
	if err != nil {
		return nil, err
	}
	a, err := s.client.ClaimRun(ctx, s.agent.ID, s.agent.Secret, api.AgentClaim{Key: name, BootID: pool, Wait: 20})
	if err != nil || a == nil {
		return nil, fmt.Errorf("no run is to be had: %w", err)
	}
	return &runLog{server: s, stage: *a}, nil
}

// archive is a configuration.
func archive() []byte {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)
	const text = "resource \"terraform_data\" \"one\" {}\n"
	_ = files.WriteHeader(&tar.Header{Name: "main.tf", Mode: 0o644, Size: int64(len(text))})
	_, _ = files.Write([]byte(text))
	_ = files.Close()
	_ = zipped.Close()
	return packed.Bytes()
}

// runLog is the log of a stage that this program has.
type runLog struct {
	server *server
	stage  api.Assignment
	end    int64
	seen   time.Time // when its lease was renewed
}

// renewEvery is well below what a lease takes.
const renewEvery = 5 * time.Second

func (l *runLog) write(ctx context.Context, text []byte) (err error) {
	if time.Since(l.seen) > renewEvery {
		l.seen = time.Now()
		if _, err := l.server.client.RenewLease(ctx, l.stage.Token, l.stage.Run,
			api.LeaseRenewal{Epoch: l.stage.Epoch, Stage: l.stage.Stage, Phase: "plan"}); err != nil {
			return err
		}
	}
	l.end, err = l.server.client.AppendRunLog(ctx, l.stage.Token, l.stage.Run, l.stage.Stage, l.stage.Attempt, l.end, text)
	return err
}

func (l *runLog) stream(ctx context.Context) (*http.Request, error) {
	address := fmt.Sprintf("%s/api/v1/runs/%s/log/stream?stream=%s&attempt=%d", l.server.process.URL, l.stage.Run,
		l.stage.Stage, l.stage.Attempt)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err == nil {
		r.SetBasicAuth(l.server.org.String(), l.server.key)
	}
	return r, err
}
