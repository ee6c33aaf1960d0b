package shim

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/agent/sandbox"
)

// keeper is a shim at work.
type keeper struct {
	folder  folder
	nudged  <-chan os.Signal
	begun   begun
	exit    Exit
	process sandbox.Process // none for a command that was adopted
	spools  map[Stream]*spool
	pipes   map[Stream]*os.File

	copying  sync.WaitGroup
	killTime <-chan time.Time // when to stop asking; nil before it was asked for
	oomKills uint64           // on this machine, before the command
}

const (
	retryEvery = time.Second
	// unkillable is for how long a process may take to die that was killed: one in the kernel's
	// hands, on a file system that hangs, can't.
	unkillable = 10 * time.Second
	// straggling is how long output is waited for when no process is left that could write.
	straggling = 2 * time.Second
)

// open opens the files and pipes of the streams.
func (k *keeper) open() error {
	k.spools, k.pipes = map[Stream]*spool{}, map[Stream]*os.File{}
	for _, stream := range k.begun.Streams {
		s, err := openSpool(k.folder.path(string(stream)), k.begun.MaxSpool)
		if err != nil {
			return err
		}
		k.spools[stream] = s
		pipe, err := openPipe(k.folder.path(string(stream)+pipeSuffix), syscall.O_RDONLY|syscall.O_NONBLOCK)
		if err != nil {
			return err
		}
		k.pipes[stream] = pipe
	}
	return nil
}

// copy begins to copy the pipes into the files. There is somebody at their other ends by now.
func (k *keeper) copy() {
	for _, stream := range k.begun.Streams {
		pipe, to := k.pipes[stream], k.spools[stream]
		k.copying.Go(func() {
			buffer := make([]byte, 64<<10)
			for {
				n, err := pipe.Read(buffer)
				to.write(buffer[:n])
				if err != nil {
					return
				}
			}
		})
	}
}

// keep stays with a command of our own until it has ended.
func (k *keeper) keep() error {
	k.copy()
	ended, gone := make(chan syscall.WaitStatus, 1), make(chan struct{})
	go reap(k.process.Child.Pid, ended, gone)
	k.note(k.attend(ended))
	k.exit.Left = k.killRest(gone)
	return k.finish()
}

// attend does what is asked until the command has ended.
func (k *keeper) attend(ended <-chan syscall.WaitStatus) syscall.WaitStatus {
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	look := time.NewTimer(lookEvery)
	defer look.Stop()
	for {
		k.obey()
		select {
		case status := <-ended:
			k.exit.Ended = time.Now().UTC()
			return status
		case <-k.nudged:
		case <-k.killTime:
			k.killTime = time.After(retryEvery) // until nothing is left
			k.killAll()
		case <-look.C:
			look.Reset(k.look())
		case <-retry.C:
			for _, s := range k.spools {
				s.retry()
			}
		}
	}
}

// obey does once what was asked for.
func (k *keeper) obey() {
	if first, _ := k.folder.move(interruptRequest, asked, done); first {
		k.signalLeader(syscall.SIGINT)
	}
	if first, _ := k.folder.move(killRequest, asked, done); first {
		k.signalLeader(syscall.SIGINT)
	}
	if k.killTime == nil && k.folder.isDone(killRequest) {
		k.killTime = time.After(k.begun.Grace)
	}
}

// note records how our own command ended.
func (k *keeper) note(status syscall.WaitStatus) {
	k.exit.Code = status.ExitStatus() // -1 after a signal
	signal := status.Signal()         // -1 for none
	if k.process.Inside && k.exit.Code > signalCodes {
		k.exit.Code, signal = -1, syscall.Signal(k.exit.Code-signalCodes)
	}
	if signal > 0 {
		k.exit.Signal = signal.String()
		k.exit.OutOfMemory = signal == syscall.SIGKILL && !k.folder.isDone(killRequest) && outOfMemoryKills() > k.oomKills
	}
}

// signalCodes is where the exit codes begin by which bubblewrap tells of a signal.
const signalCodes = 128

// finish drains what is left in the pipes, and writes how it ended.
func (k *keeper) finish() error {
	drained := make(chan struct{})
	go func() { k.copying.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(straggling): // somebody else was handed the pipe
		for _, pipe := range k.pipes {
			_ = pipe.SetReadDeadline(time.Now())
		}
		<-drained
	}
	k.awaitRoom()
	k.exit.Sizes, k.exit.Lost = map[Stream]int64{}, map[Stream]int64{}
	for stream, s := range k.spools {
		size, lost := s.end()
		k.exit.Sizes[stream] = size
		if lost > 0 {
			k.exit.Lost[stream] = lost
		}
	}
	sandbox.RemoveCgroup(k.begun.Cgroup)
	k.exit.Exceeded = k.begun.Exceeded
	k.exit.Interrupted, k.exit.Killed = k.folder.isDone(interruptRequest), k.folder.isDone(killRequest)
	if k.exit.Ended.IsZero() {
		k.exit.Ended = time.Now().UTC()
	}
	return k.folder.writeExit(k.exit)
}

// awaitRoom waits a while for room on a full disk: what comes last says how an apply went. A
// command that was killed is in a hurry.
func (k *keeper) awaitRoom() {
	if k.folder.isDone(killRequest) {
		return
	}
	for end := time.Now().Add(k.begun.Room); time.Now().Before(end); time.Sleep(min(k.begun.Room, retryEvery)) {
		left := false
		for _, s := range k.spools {
			left = s.waits() || left
		}
		if !left {
			return
		}
	}
}

// reap hears of the ends of all processes that are ours by birth or by adoption.
func reap(leader int, ended chan<- syscall.WaitStatus, gone chan<- struct{}) {
	defer close(gone)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // there are none
		case pid == leader:
			ended <- status
		}
	}
}
