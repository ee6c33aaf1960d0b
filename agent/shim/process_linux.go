package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// Process is the command of a folder, whoever started it.
type Process struct {
	folder folder
}

func aLongTimeAgo() time.Time { return time.Unix(1, 0) }

// Find finds the command of a folder. It fails with fs.ErrNotExist when there is no such
// folder: then nothing was ever started in it.
func Find(dir string) (*Process, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return &Process{folder: folder(dir)}, nil
}

// Dir is the folder.
func (p *Process) Dir() string { return string(p.folder) }

// Identity is the evidence of who the command and its shim are, as far as they came to be.
func (p *Process) Identity() (Identity, error) {
	var shim Identity
	if err := p.folder.read(shimFile, &shim); err != nil {
		return Identity{}, ignoreMissing(err)
	}
	var command begun
	if err := p.folder.read(commandFile, &command); err != nil {
		return shim, ignoreMissing(err)
	}
	shim.Command = command.Command
	return shim, nil
}

// Sandbox is what was reached for the command; nil before it has begun.
func (p *Process) Sandbox() (*sandbox.Report, error) {
	var command begun
	err := p.folder.read(commandFile, &command)
	return command.Sandbox, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Status says what is true of the command now, and how that is known.
func (p *Process) Status() (Status, error) {
	if status, err := p.ended(); status.Exit != nil || err != nil {
		return status, err
	}
	lock, err := p.folder.lock(unix.LOCK_SH)
	if errors.Is(err, errLocked) {
		return Status{Condition: Running, Proof: "its shim holds the lock"}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Status{}, err
	}
	if lock != nil {
		defer lock.Close() // until then no shim begins
	}
	if status, err := p.ended(); status.Exit != nil || err != nil {
		return status, err // it was written before the lock was released
	}
	return p.withoutShim()
}

func (p *Process) ended() (Status, error) {
	exit, err := p.folder.readExit()
	if err != nil {
		return Status{}, ignoreMissing(err)
	}
	return Status{Condition: Ended, Proof: "its shim wrote down how", Exit: exit}, nil
}

// withoutShim says what became of a command whose shim is gone without a word.
func (p *Process) withoutShim() (Status, error) {
	var command begun
	err := p.folder.read(commandFile, &command)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{Condition: NeverBegan, Proof: "its shim is gone, and had let no command go"}, nil
	}
	if err != nil {
		return Status{}, err
	}
	us, err := ourselves()
	if err != nil {
		return Status{}, err
	}
	if us.BootID != command.BootID {
		return Status{Condition: Vanished, Proof: "the machine was started anew since"}, nil
	}
	if us.PIDs != command.PIDs {
		return Status{Condition: Vanished,
			Proof: "its shim is gone, and so is the container that both were in, unless it can't be seen from here"}, nil
	}
	lives, err := command.Command.lives()
	if err != nil {
		return Status{}, err
	}
	if lives {
		return Status{Condition: Orphaned, Proof: fmt.Sprintf("process %d runs without its shim", command.Command.Number)},
			nil
	}
	if left := command.family(0); len(left) > 0 {
		return Status{Condition: Orphaned,
			Proof: fmt.Sprintf("process %d, which the command started, runs after it and its shim", left[0].Number)}, nil
	}
	return Status{Condition: Vanished,
		Proof: fmt.Sprintf("its shim is gone, and process %d that started at tick %d too", command.Command.Number,
			command.Command.StartTime)}, nil
}

var errLocked = errors.New("the folder is locked")

// lock fails with errLocked when somebody else holds the folder.
func (f folder) lock(how int) (*os.File, error) {
	lock, err := os.OpenFile(f.path(lockFile), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(lock.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Wait returns when the command has ended or is known to be gone; the status says which. A
// command without a shim is adopted: its output goes on.
func (p *Process) Wait(ctx context.Context) (Status, error) {
	for {
		status, err := p.Status()
		if err != nil || status.Condition != Running && status.Condition != Orphaned {
			return status, err
		}
		if status.Condition == Orphaned {
			if err := p.Adopt(ctx); err != nil {
				return status, err
			}
		}
		if err := p.waitForShim(ctx); err != nil {
			return status, err
		}
	}
}

// beforeShim is how often a shim is looked for that is about to say who it is.
const beforeShim = 20 * time.Millisecond

func (p *Process) waitForShim(ctx context.Context) error {
	identity, err := p.Identity()
	if err != nil {
		return err
	}
	shim, err := identity.Shim.open()
	if errors.Is(err, errGone) {
		// It has not said who it is, or its lock is about to be released, or another shim
		// adopts the command just now.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(beforeShim):
			return nil
		}
	}
	if err != nil {
		return err
	}
	defer shim.close()
	return shim.wait(ctx)
}
