package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSweepRegularly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began, sweeps := time.Now(), []time.Duration{}
		stop := sweepRegularly(t.Context(), func(context.Context) error {
			sweeps = append(sweeps, time.Since(began))
			return errors.New("the disk is full")
		}, slog.New(slog.NewTextHandler(&log, nil)))
		time.Sleep(2*time.Hour + 30*time.Minute)
		synctest.Wait()
		stop()
		want := []time.Duration{time.Minute, time.Hour + time.Minute, 2*time.Hour + time.Minute}
		if len(sweeps) != 3 || sweeps[0] != want[0] || sweeps[1] != want[1] || sweeps[2] != want[2] {
			t.Errorf("swept after %v; want %v", sweeps, want)
		}
		if n := strings.Count(log.String(), "the disk is full"); n != 3 {
			t.Errorf("logged %d times; want 3", n)
		}
	})
}

// The store is closed after stop, so no sweep may be under way then; and one that is given
// up is no error.
func TestSweepEndsWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begun, ended := false, false
		stop := sweepRegularly(t.Context(), func(ctx context.Context) error {
			begun = true
			<-ctx.Done()
			time.Sleep(time.Second) // the piece that it is at
			ended = true
			return ctx.Err()
		}, slog.New(slog.NewTextHandler(&log, nil)))
		time.Sleep(firstSweep)
		synctest.Wait()
		stop()
		if !begun || !ended || log.Len() > 0 {
			t.Errorf("begun %t, ended %t, log %q", begun, ended, log.String())
		}
	})
}
