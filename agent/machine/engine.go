package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// EngineName is what workspaces call Holdfast's own engine.
const EngineName = "engine"

// Engine is Holdfast's own engine, which is a part of this program. The zero value is none.
type Engine struct {
	Version string
	Args    []string // with which this program is the engine
}

// fits returns a fault if the engine isn't there, or is of another version than is wanted.
func (e Engine) fits(constraint string) error {
	if len(e.Args) == 0 {
		return fault.New(fault.ToolUnavailable, "this program has no engine")
	}
	if constraint == "" || constraint == e.Version {
		return nil
	}
	allowed, err := version.NewConstraint(constraint)
	if err != nil {
		return fault.New(fault.ToolConstraintInvalid, "%.80q says nothing about versions", constraint)
	}
	if v, err := version.NewVersion(e.Version); err != nil || !allowed.Check(v) {
		return fault.New(fault.ToolUnavailable, "the engine is that of Holdfast %s, and %.80q is wanted", e.Version,
			constraint)
	}
	return nil
}

// findEngine returns the engine. Its providers are those of the store's mirror.
func (t Tools) findEngine(_ context.Context, want api.Tool) (agent.Binary, error) {
	if err := t.Engine.fits(want.Version); err != nil {
		return agent.Binary{}, err
	}
	path, err := os.Executable()
	if err != nil {
		return agent.Binary{}, err
	}
	digest, err := digestOf(path)
	if err != nil {
		return agent.Binary{}, fault.Wrap(err, fault.ToolUnavailable, "the program of the engine can't be read")
	}
	return agent.Binary{
		Tool: api.Tool{Name: EngineName, Version: t.Engine.Version, Digest: digest,
			System: runtime.GOOS + "_" + runtime.GOARCH},
		Path: path, Args: t.Engine.Args, Env: map[string]string{"HOLDFAST_ENGINE_PROVIDERS": t.Store.ProviderMirror()},
	}, nil
}

// digestOf is the SHA-256 of a file, each time anew: a program may be replaced while it runs.
func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}
