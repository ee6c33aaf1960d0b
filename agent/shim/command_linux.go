package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// SandboxedCommand is the name of our own command that becomes the tool; see sandbox.Enter.
const SandboxedCommand = "run-sandboxed"

// ownBinary is this very program, even when its file was replaced by an upgrade meanwhile.
const ownBinary = "/proc/self/exe"

// start starts the command. It is let go only when who it is is on disk.
func (k *keeper) start(spec Spec) error {
	orders, giveOrder, err := os.Pipe()
	if err != nil {
		return err
	}
	defer giveOrder.Close()
	answers, giveAnswer, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close())
	}
	defer answers.Close()
	around := sandbox.Confine(spec.Sandbox, spec.Limits, fmt.Sprintf("%d-%d", k.begun.Shim.Number, k.begun.Shim.StartTime))
	err = k.spawn(orders, giveAnswer, around)
	if err != nil && around.Made() {
		around.Abandon(err)
		err = k.spawn(orders, giveAnswer, around)
	}
	_, _, _ = orders.Close(), giveAnswer.Close(), around.Close()
	if err != nil {
		return err
	}
	k.begun.Cgroup, k.exit.Sandbox = around.Cgroup, around.Report
	if err := k.recordCommand(); err != nil {
		return err // which closes the pipe of its order, so that it ends
	}
	text, err := json.Marshal(sandbox.Order{
		Command: spec.Command, Args: spec.Args, WorkDir: spec.WorkDir,
		Env:    append(slices.Clone(spec.Env), markVariable+"="+k.begun.Mark),
		Policy: spec.Sandbox, Limits: spec.Limits, Begun: k.exit.Sandbox,
	})
	if err != nil {
		return err
	}
	if _, err := giveOrder.Write(text); err != nil {
		return fmt.Errorf("can't tell the command what it is: %w", err)
	}
	if err := giveOrder.Close(); err != nil {
		return err
	}
	return k.hear(answers)
}

// spawn starts the process that becomes the command, in a process group of its own.
func (k *keeper) spawn(orders, answers *os.File, around *sandbox.Confinement) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []*os.File{null, nil, nil, orders, answers}
	for i, stream := range k.begun.Streams {
		// Open at both ends: the command is never told that nobody reads.
		pipe, err := openPipe(k.folder.path(string(stream)+pipeSuffix), syscall.O_RDWR)
		if err != nil {
			return err
		}
		defer pipe.Close()
		if i == 0 {
			files[1], files[2] = pipe, pipe
		} else {
			files[1] = pipe
		}
	}
	k.exit.Started = time.Now().UTC()
	k.process, err = around.StartIn(&os.ProcAttr{
		Dir: "/", Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true},
	}, SandboxedCommand)
	if err != nil {
		return fmt.Errorf("can't start the command: %w", err)
	}
	return nil
}

func (k *keeper) recordCommand() (err error) {
	if k.begun.Command, err = pidOf(k.process.PID); err != nil {
		return err
	}
	k.begun.Started, k.begun.Session = k.exit.Started, k.begun.Shim.Number
	return k.folder.write(commandFile, k.begun)
}

// hear waits until the command has begun. The pipe's end says so: it is closed by the exec.
func (k *keeper) hear(answers io.Reader) error {
	decoder := json.NewDecoder(answers)
	last := sandbox.Answer{Error: "the command's process ended before it became the command"}
	for {
		var answer sandbox.Answer
		err := decoder.Decode(&answer)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		last = answer
	}
	k.exit.Sandbox, k.exit.TooWeak = last.Report, last.TooWeak
	if last.Error != "" {
		return errors.New(last.Error)
	}
	return nil
}

// openPipe opens a named pipe in just this mode; package os would make it one that doesn't
// block, for the command too.
func openPipe(path string, mode int) (*os.File, error) {
	fd, err := syscall.Open(path, mode|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}
