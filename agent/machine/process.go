package machine

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/sandbox"
	"github.com/holdfast/holdfast/agent/shim"
	"github.com/holdfast/holdfast/api"
)

// process is a command under a shim.
type process struct{ shim *shim.Process }

// askPatience is how long a shim may take to note what it is asked for.
const askPatience = 30 * time.Second

func (p process) Output() string { return filepath.Join(p.shim.Dir(), string(shim.Log)) }

func (p process) Stdout() string { return filepath.Join(p.shim.Dir(), string(shim.Stdout)) }

func (p process) Wait(ctx context.Context) (agent.Exit, error) {
	status, err := p.shim.Wait(ctx)
	if err != nil {
		return agent.Exit{}, err
	}
	if status.Condition == shim.NeverBegan {
		return agent.Exit{}, fmt.Errorf("%w: %s", agent.ErrNeverBegun, status.Proof)
	}
	if status.Exit == nil {
		return agent.Exit{Code: -1, Lost: true, Failed: status.Proof}, nil
	}
	exit := status.Exit
	return agent.Exit{
		Code: exit.Code, Signal: exit.Signal, Lost: exit.Unknown, Failed: exit.Failed,
		OutOfMemory: exit.OutOfMemory, TooWeak: exit.TooWeak,
		Exceeded: exit.Exceeded, Took: exit.Ended.Sub(exit.Started),
	}, nil
}

func (p process) Interrupt() error {
	ctx, stop := context.WithTimeout(context.Background(), askPatience)
	defer stop()
	return p.shim.Interrupt(ctx)
}

func (p process) Kill() error {
	ctx, stop := context.WithTimeout(context.Background(), askPatience)
	defer stop()
	return p.shim.Kill(ctx)
}

func (p process) Evidence() agent.Evidence {
	identity, err := p.shim.Identity()
	if err != nil {
		return agent.Evidence{}
	}
	return agent.Evidence{BootID: identity.BootID, PID: identity.Command.Number, StartTime: identity.Command.StartTime}
}

func (p process) Sandbox() *api.Sandbox {
	report, err := p.shim.Sandbox()
	if err != nil || report == nil {
		return nil
	}
	return wire(*report)
}

func wire(r sandbox.Report) *api.Sandbox {
	network := "open"
	if r.Closed {
		network = "closed"
	}
	return &api.Sandbox{Level: r.Level.String(), Network: network, Why: r.Why}
}
