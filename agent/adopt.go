package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// adopt goes through the folders that an executor before has left: what is still this agent's is
// carried on, what is over or was lost is removed. One in which a command was begun, and whose record can't be read,
// may be of an apply that goes on: it is left alone.
func (e *Executor) adopt(ctx context.Context) error {
	paths, err := e.folders.all()
	if err != nil {
		return err
	}
	for _, path := range paths {
		r, err := readRecord(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && len(begunIn(path)) > 0 {
			e.folders.adopt(path)
			e.log.ErrorContext(ctx, "the record of a run folder can't be read, so it is left alone", "folder", path, "error",
				err)
			continue
		}
		if err != nil || r.Over {
			e.sweep(ctx, path)
			continue
		}
		if err := e.adoptOne(ctx, path, r); err != nil {
			return err
		}
	}
	return nil
}

// adoptOne asks for the assignment again, which has the secrets that no file does.
func (e *Executor) adoptOne(ctx context.Context, path string, r *record) error {
	key, err := e.claimKey()
	if err != nil {
		return err
	}
	if key == r.Key { // it died between the two
		if err := e.forgetKey(); err != nil {
			return err
		}
	}
	found, err := e.claim(ctx, r.Key, true)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil { // the server knows nothing of this agent, or of its claims, any more
		e.log.ErrorContext(ctx, "a stage that was left behind can't be asked for", "run", r.Run, "folder", path, "error", err)
	}
	if !e.folders.adopt(path) {
		return nil
	}
	if found == nil || !r.matches(*found) {
		e.leave(ctx, path, r)
		return nil
	}
	slot, release := e.slotFor(r.Slot)
	r.Slot = slot
	e.take(ctx, e.newStage(*found, path, r), release)
	return nil
}

// slotFor is a slot for an adopted stage: its own if that is free, or one beside the others,
// where there are fewer than there were.
func (e *Executor) slotFor(wanted int) (int, func()) {
	for range cap(e.slots) {
		select {
		case slot := <-e.slots:
			if slot == wanted {
				return slot, func() { e.slots <- slot }
			}
			e.slots <- slot
		default:
		}
	}
	return max(wanted, cap(e.slots)), func() {}
}

// leave deals with a stage that was given up by the server while no executor was there.
func (e *Executor) leave(ctx context.Context, path string, r *record) {
	s := e.newStage(r.assignment(), path, r)
	e.stages.Go(func() {
		s.lose()
		process, err := e.settings.Commands.Find(ctx, commandIn(path, r.Phase))
		if err == nil {
			_, err = s.await(ctx, process)
		}
		if ctx.Err() != nil {
			e.folders.release(path)
			return
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.log.ErrorContext(ctx, "can't wait for a command that was left behind", "error", err)
			s.stranded = s.applies() // it may go on, and may yet leave a state there
		}
		if s.applies() {
			s.keepWhatErrored()
		}
		e.clear(ctx, s)
	})
}

// keepWhatErrored keeps any state in a run folder that the tool could not store. Where in the
// configuration it was run is not in records of older programs.
func (s *stage) keepWhatErrored() {
	if path := s.errored(); path != "" {
		_ = s.keepErrored(path, nil)
		return
	}
	_ = filepath.WalkDir(configIn(s.folder), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == erroredState && entry.Type().IsRegular() {
			_ = s.keepErrored(path, nil)
			return fs.SkipAll
		}
		return nil
	})
}

// sweep removes a folder that nobody goes on with.
func (e *Executor) sweep(ctx context.Context, path string) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() || !e.folders.adopt(path) {
		return
	}
	e.endCommands(ctx, path)
	if err := e.folders.remove(path); err != nil {
		e.log.ErrorContext(ctx, "an old run folder can't be removed", "folder", path, "error", err)
	}
}

// begunIn returns the folders of the commands that were begun in a run folder.
func begunIn(path string) []string {
	folders, _ := filepath.Glob(commandIn(path, "*"))
	return folders
}

// ending is how long the commands of a folder that goes may take to end once they are killed.
const ending = 10 * time.Second

// endCommands kills what goes on yet in the folder of a stage that is over, and waits until it has ended: without the
// folder nobody would find it any more. An executor that ends does so too: the secrets of a stage that is over go.
func (e *Executor) endCommands(ctx context.Context, path string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer stop()
	var begun []Process
	for _, folder := range begunIn(path) {
		if process, err := e.settings.Commands.Find(ctx, folder); err == nil {
			_ = process.Kill() // of a stage that was reported as ended there is nothing to lose
			begun = append(begun, process)
		}
	}
	for _, process := range begun {
		if _, err := process.Wait(ctx); err != nil {
			e.log.WarnContext(ctx, "a command of a run folder that goes has not ended", "folder", path, "error", err)
		}
	}
}
