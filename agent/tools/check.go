package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/pause"
)

const (
	askPatience = 30 * time.Second
	maxAnswer   = 64 << 10
	busyTries   = 50
	busyPause   = 20 * time.Millisecond
)

// check runs the program to learn whether it is this version of this tool, for this machine.
func check(ctx context.Context, path string, name Name, want *version.Version) error {
	found, err := identify(ctx, path, name)
	if err != nil {
		return err
	}
	if !found.Equal(want) {
		return fault.New(fault.ToolMismatch, "the program is %s %s, not %s", name, found, want)
	}
	return nil
}

// identify asks a program for its version. It is a fault if it is not the named tool.
func identify(ctx context.Context, path string, name Name) (*version.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	arguments := []string{"version"}
	if name == Terragrunt {
		arguments = []string{"--version"}
	}
	said, err := ask(ctx, path, arguments...)
	if err != nil {
		return nil, err
	}
	v, err := versionOfBanner(said, name)
	if err != nil || name == Terragrunt {
		return v, err
	}
	said, err = ask(ctx, path, "version", "-json")
	if err != nil {
		return nil, err
	}
	return v, checkJSON(said, v)
}

// versionOfBanner finds the line in which a tool says what it is. Only that line tells OpenTofu
// and Terraform apart.
func versionOfBanner(said []byte, name Name) (*version.Version, error) {
	for line := range strings.Lines(string(said)) {
		if text, found := strings.CutPrefix(strings.TrimSpace(line), name.banner()); found {
			if v, err := parseVersion(text); err == nil {
				return v, nil
			}
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return nil, fault.New(fault.ToolMismatch, "the program is not %s: it calls itself %.80q", name, line)
}

// checkJSON compares what `version -json` says, under keys that both tools have.
func checkJSON(said []byte, want *version.Version) error {
	var told struct {
		Version  string `json:"terraform_version"`
		Platform string `json:"platform"`
	}
	if err := json.Unmarshal(said, &told); err != nil {
		return fault.Wrap(err, fault.ToolMismatch, "the program's `version -json` is no JSON")
	}
	v, err := parseVersion(told.Version)
	switch {
	case err != nil || !v.Equal(want):
		return fault.New(fault.ToolMismatch, "the program calls itself %s, and with -json %.80q", want, told.Version)
	case told.Platform != platform():
		return fault.New(fault.ToolMismatch, "the program is for %.80q, and this machine is %s", told.Platform, platform())
	}
	return nil
}

// ask runs the program in an empty folder and with an environment of its own, and returns what
// it prints.
func ask(ctx context.Context, path string, arguments ...string) (said []byte, err error) {
	home, err := os.MkdirTemp("", "holdfast-tool-")
	if err != nil {
		return nil, unwritable(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	for tried := 0; ; tried++ {
		said, err = askOnce(ctx, path, home, arguments)
		// A process that another thread forked while the program was being written has it open
		// for writing until its own exec, and so long it can't be run.
		if !errors.Is(err, syscall.ETXTBSY) || tried == busyTries {
			return said, refusedToRun(ctx, err)
		}
		if err := pause.For(ctx, busyPause); err != nil {
			return nil, err
		}
	}
}

func askOnce(ctx context.Context, path, home string, arguments []string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, arguments...)
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8",
		"CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "TF_CLI_CONFIG_FILE=" + os.DevNull,
	}
	out := &capped{left: maxAnswer, full: cancel}
	cmd.Stdout = out
	cmd.WaitDelay = time.Second
	endWithChildren(cmd)
	err := cmd.Run()
	return out.kept.Bytes(), err
}

// refusedToRun says why a program can't be used.
func refusedToRun(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Wrap(err, fault.ToolMismatch, "the program did not say its version within %s", askPatience)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(err, fault.ToolMismatch,
			"the program can't be run from the store: the folder's file system may not allow programs (noexec)")
	}
	return fault.Wrap(err, fault.ToolMismatch, "the program does not run here: %v", err)
}

// capped keeps what is written to it, until that is too much.
type capped struct {
	kept bytes.Buffer
	left int
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.full()
		return 0, fmt.Errorf("more than %d bytes of answer", maxAnswer)
	}
	c.left -= len(p)
	return c.kept.Write(p)
}
