package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

const (
	lockFile     = ".terraform.lock.hcl"
	erroredState = "errored.tfstate"
)

// configLimits bound a configuration, planLimits the files that planning made.
func configLimits() archive.Limits { return archive.Limits{Files: 100_000, Bytes: 4 << 30} }
func planLimits() archive.Limits   { return archive.Limits{Files: 10_000, Bytes: 512 << 20} }

// directory is where the tool works.
func (s *stage) directory() string {
	return filepath.Join(configIn(s.folder), filepath.FromSlash(s.assignment.Directory))
}

// writable are the folders of a run that its commands may change. What the executor notes is not
// among them.
func (s *stage) writable() []string {
	return []string{configIn(s.folder), scratchIn(s.folder, "data"), scratchIn(s.folder, "home"), temporaryOf(s.folder),
		scratchIn(s.folder, "out")}
}

// prepare makes everything that the commands need.
func (s *stage) prepare(ctx, held context.Context) api.PhaseReport {
	s.record.Notes[phasePrepare] = ""
	s.say(ctx, header(phasePrepare))
	sandbox := s.executor.settings.Commands.Sandbox()
	if least := s.leastSandbox(); !Reaches(sandbox.Level, least) {
		whose := "the workspace"
		if least != s.assignment.MinSandbox {
			whose = "whoever runs this executor"
		}
		why := strings.Join(append([]string{""}, sandbox.Why...), "; ")
		r := failed(sandboxLow, fmt.Sprintf("the sandbox reaches %q here, and %s wants %q at least%s", sandbox.Level, whose,
			least, why))
		r.Sandbox = &sandbox
		return r
	}
	for _, step := range []func(ctx, held context.Context) error{s.lay, s.download, s.carry, s.resolve, s.reuseInit} {
		if err := step(ctx, held); err != nil {
			return failed(classOfPreparing(err), reason(err))
		}
	}
	if _, err := s.environment(); err != nil {
		return failed(config, err.Error())
	}
	if short := len(s.masker.TooShort()); short > 0 {
		s.note(ctx, fmt.Sprintf("sensitive values that are too short to be masked in this log: %d\n", short))
	}
	if words := len(s.assignment.Words); words > 0 {
		s.note(ctx, fmt.Sprintf("sensitive values that are words of the configuration, and are not masked in this log: %d\n", words))
	}
	with := fmt.Sprintf("%s %s (SHA-256 %s)", s.tool.Name, s.tool.Version, s.tool.Digest)
	if called := s.tool.Calls; called != nil {
		with += fmt.Sprintf(" with %s %s (SHA-256 %s)", called.Name, called.Version, called.Digest)
	}
	s.note(ctx, fmt.Sprintf("%s, sandbox %s\n", with, sandbox.Level))
	return api.PhaseReport{Outcome: succeeded, Tool: &s.tool.Tool, Sandbox: &sandbox}
}

// leastSandbox is the level below which no command is started.
func (s *stage) leastSandbox() string {
	if least := s.executor.settings.MinSandbox; Reaches(least, s.assignment.MinSandbox) {
		return least
	}
	return s.assignment.MinSandbox
}

// Reaches reports whether a level of the sandbox is enough.
func Reaches(level, least string) bool {
	order := []string{"none", "weak", "landlock", "namespaces"}
	return least == "" || slices.Index(order, level) >= slices.Index(order, least)
}

// lay makes the run's folders, empty.
func (s *stage) lay(context.Context, context.Context) error {
	for _, path := range append(s.writable(), scratchIn(s.folder, "p")) {
		if err := errors.Join(wipe(path), os.Mkdir(path, 0o700)); err != nil {
			return err
		}
	}
	return nil
}

// download fetches the configuration.
func (s *stage) download(_, held context.Context) error {
	err := persist(held, s.log, "to have the configuration", func(ctx context.Context) error {
		content, err := s.executor.settings.Server.OpenConfiguration(ctx, s.hold())
		if err != nil {
			return err
		}
		defer content.Close()
		return permanent(archive.Extract(content, configIn(s.folder), configLimits()))
	})
	if err != nil {
		return err
	}
	if d := s.assignment.Directory; d != "" && !filepath.IsLocal(filepath.FromSlash(d)) {
		return &unusable{fmt.Sprintf("the directory %q is none within the configuration", d)}
	}
	if info, err := os.Stat(s.directory()); err != nil || !info.IsDir() {
		return &unusable{fmt.Sprintf("the configuration has no directory %q", s.assignment.Directory)}
	}
	if err := s.removeErrored(); err != nil {
		return err
	}
	if err := s.checkTerragrunt(); err != nil {
		return err
	}
	return backend.Write(s.directory())
}

// carry brings what the plan made to its apply.
func (s *stage) carry(_, held context.Context) error {
	for _, a := range s.assignment.Carried {
		var err error
		switch a.Kind {
		case artefactPlan:
			err = s.fetch(held, a, planIn(s.folder))
		case artefactLock:
			err = s.fetch(held, a, s.lockPath())
		case artefactPlanFiles:
			err = s.fetchMade(held, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchMade lays the files that planning made where they were. Terragrunt makes its own first.
func (s *stage) fetchMade(held context.Context, a api.Artefact) error {
	path := s.madePath()
	if err := s.fetch(held, a, path); err != nil || s.isTerragrunt() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := archive.Extract(f, configIn(s.folder), planLimits()); err != nil {
		return err
	}
	return s.removeErrored()
}

// removeErrored has one that is found behind an apply be that apply's.
func (s *stage) removeErrored() error {
	err := os.Remove(filepath.Join(s.directory(), erroredState))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fetch downloads an artefact, and sees that it is the one that is meant.
func (s *stage) fetch(held context.Context, a api.Artefact, path string) error {
	return persist(held, s.log, "to have the artefact "+a.Kind, func(ctx context.Context) error {
		attempt := a.Attempt
		if attempt == 0 {
			attempt = s.assignment.Attempt
		}
		content, err := s.executor.settings.Server.OpenArtefact(ctx, s.hold(), a.Kind, attempt)
		if err != nil {
			return err
		}
		defer content.Close()
		return save(path, content, a.Digest)
	})
}

// save writes a file of this digest.
func save(path string, content io.Reader, digest string) (err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, sum), content); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return fmt.Errorf("what came has the digest %s, not %s", got, digest)
	}
	return nil
}

// resolve finds the tool.
func (s *stage) resolve(ctx, held context.Context) error {
	err := persist(held, s.log, "to find the tool", func(context.Context) error { return s.equip(ctx) })
	if err == nil {
		s.record.Tool = &s.tool.Tool
	}
	return err
}

// equip finds the tool and its configuration, also for an executor that was started anew: it is
// the same tool in all phases.
func (s *stage) equip(ctx context.Context) error {
	if s.tool.Path != "" {
		return nil
	}
	want := s.assignment.Tool
	if s.record.Tool != nil {
		want = *s.record.Tool
	}
	tools := s.executor.settings.Tools
	tool, err := tools.Find(ctx, want, configIn(s.folder), s.assignment.Directory)
	if err != nil {
		return err
	}
	if want.Digest != "" && want.Digest != tool.Digest {
		return &unusable{fmt.Sprintf("the plan was made by a binary of %s %s with the SHA-256 %s; the one here has %s",
			want.Name, want.Version, want.Digest, tool.Digest)}
	}
	if want.Calls != nil && (tool.Calls == nil || want.Calls.Digest != tool.Calls.Digest) {
		return &unusable{fmt.Sprintf("the plan was made with another binary of %s %s than there is here", want.Calls.Name,
			want.Calls.Version)}
	}
	shares := !executesInInit(configIn(s.folder), s.directory(), s.assignment.Environment)
	if s.config, err = tools.Configuration(ctx, tool, s.assignment.Org, s.record.Slot, shares); err != nil {
		return err
	}
	if err := os.WriteFile(cliConfigIn(s.folder), []byte(s.config.Text), 0o600); err != nil {
		return err
	}
	s.tool = tool
	return nil
}

// unusable is a fault of what a run was given.
type unusable struct{ why string }

func (u *unusable) Error() string { return u.why }

// permanent makes an error that another try won't cure a fault.
func permanent(err error) error {
	if invalid, ok := errors.AsType[*archive.InvalidError](err); ok {
		return fault.Wrap(err, fault.RunInvalid, "the configuration can't be used: %s", invalid.Why)
	}
	return err
}
