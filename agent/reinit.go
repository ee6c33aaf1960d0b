package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/api"
)

// initLimits bound what is compared, and so what is kept, of what an init made.
func initLimits() archive.Limits { return archive.Limits{Files: 10_000, Bytes: 16 << 20} }

// initializedAlready is what a log says instead of what an init prints.
const initializedAlready = "what the plan's init has made is here, unchanged\n"

func (s *stage) dataFolder() string { return scratchIn(s.folder, "data") }

// planAttempt is which attempt of the run has made the plan, or is to make it.
func (s *stage) planAttempt() int {
	for _, a := range s.assignment.Carried {
		if a.Kind == artefactPlan && a.Attempt > 0 {
			return a.Attempt
		}
	}
	return s.assignment.Attempt
}

// initOf says what the stage's init was or would be of; not of all that it made.
func (s *stage) initOf() (initOf, error) {
	lock, err := s.digestOfLock()
	return initOf{plan: s.planAttempt(), folder: s.folder, directory: s.assignment.Directory, tool: s.tool.Digest,
		lock: lock}, err
}

// digestOfInit is the digest of what init has made. It may have links to what no command can
// change, such as the mirror of providers.
func (s *stage) digestOfInit() (string, error) {
	return archive.Digest(s.dataFolder(), initLimits(), func(target string) bool {
		for _, folder := range s.config.Read {
			if filepath.IsAbs(target) && strings.HasPrefix(filepath.Clean(target), folder+string(filepath.Separator)) {
				return true
			}
		}
		return false
	})
}

// seeInit notes what a plan's init has made, before any code of the configuration runs: its apply
// goes on with just that, or has it made again. Terragrunt's init also makes what is elsewhere, such
// as the folder in which its tool works, and what its hooks make.
func (s *stage) seeInit() {
	if s.applies() || !mutates(s.assignment.Kind) || s.tool.Calls != nil {
		return
	}
	of, err := s.initOf()
	if err == nil {
		of.made, err = s.digestOfInit()
	}
	if err != nil {
		s.log.Debug("the apply will run init again", "why", err)
		return
	}
	s.initialized = &of
}

// keepInit keeps what init has made for the plan's apply.
func (s *stage) keepInit() {
	if s.initialized == nil || !s.planned || s.executor.isDraining() {
		return
	}
	// What the plan has changed is made again, and may be as large as it likes.
	if now, err := s.digestOfInit(); err != nil || now != s.initialized.made {
		s.log.Debug("the apply will run init again: the plan has changed what there was", "error", err)
		return
	}
	s.attempt("keep what init has made", func() error {
		return s.executor.initialized.keep(s.assignment.Run, s.dataFolder(), *s.initialized)
	})
}

// reuseInit takes what the init of the plan made, if it is here and would be made again just so.
func (s *stage) reuseInit(context.Context, context.Context) error {
	if !s.applies() {
		return nil
	}
	of, err := s.initOf()
	if err != nil {
		return err
	}
	var made string
	s.record.Initialized, err = s.executor.initialized.restore(s.assignment.Run, s.dataFolder(), func(kept initOf) bool {
		made, kept.made = kept.made, ""
		return kept == of
	})
	if err != nil || !s.record.Initialized {
		return err
	}
	if now, err := s.digestOfInit(); err != nil || now != made {
		s.log.Warn("what the plan's init had made was changed behind it: init is run again", "error", err)
		s.record.Initialized = false
		return errors.Join(wipe(s.dataFolder()), os.Mkdir(s.dataFolder(), 0o700))
	}
	return nil
}

func (s *stage) init(ctx, _ context.Context) api.PhaseReport {
	if s.record.Initialized {
		s.say(ctx, header(phaseInit)+initializedAlready)
		return api.PhaseReport{Outcome: succeeded, Tool: s.record.Tool}
	}
	if s.isTerragrunt() && !s.isBegun(ctx, phaseInit) { // its init makes files, too
		if err := s.noteBefore(); err != nil {
			return failed(infrastructure, reason(err))
		}
	}
	args := []string{"init", "-input=false"}
	if s.applies() {
		args = append(args, "-lockfile=readonly")
	}
	out, err := s.command(ctx, phaseInit, false, false, args...)
	r := s.ended(out, err)
	if r.Outcome == succeeded {
		s.seeInit()
		if err := cmp.Or(s.seeLock(), s.seeTerragrunt()); err != nil {
			return failed(classOfPreparing(err), reason(err))
		}
	}
	return r
}

// noLock stands for the digest of a lock file that isn't there.
const noLock = "none"

// maxLock is how large a lock file may be.
const maxLock = 16 << 20

func (s *stage) lockPath() string { return filepath.Join(s.directory(), lockFile) }

// digestOfLock is the digest of the lock file as it is. What commands have left there may be anything: a link to what
// has no end, or a pipe.
func (s *stage) digestOfLock() (string, error) {
	f, err := openRegular(s.folder, s.lockPath())
	if errors.Is(err, fs.ErrNotExist) {
		return noLock, nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxLock+1))
	if err == nil && n > maxLock {
		err = &unusable{fmt.Sprintf("%s has more than %d MiB", lockFile, maxLock>>20)}
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// seeLock notes the lock file that the plan's init has left, before any code of the configuration
// runs. Terragrunt may run such code before, and writes it when it likes.
func (s *stage) seeLock() (err error) {
	if s.applies() || s.tool.Calls != nil {
		return nil
	}
	if s.record.Lock, err = s.digestOfLock(); err != nil {
		return err
	}
	return s.record.save(s.folder)
}

// sameLock refuses a lock file that is another one than the plan's init has left: the apply would
// have other providers than the plan had.
func (s *stage) sameLock() error {
	now, err := s.digestOfLock()
	if err == nil && s.record.Lock != "" && now != s.record.Lock {
		return &unusable{"the plan has changed " + lockFile + ", by which its apply would choose other providers"}
	}
	return err
}
