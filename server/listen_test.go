package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
)

// onWarning is called for each record.
type onWarning func()

func (f onWarning) Enabled(context.Context, slog.Level) bool  { return true }
func (f onWarning) Handle(context.Context, slog.Record) error { f(); return nil }
func (f onWarning) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f onWarning) WithGroup(string) slog.Handler             { return f }

// An address that gets free while it is waited for is taken; one that doesn't is refused.
func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	synctest.Test(t, func(t *testing.T) {
		if _, err := listen(t.Context(), taken.Addr().String(), slog.New(slog.DiscardHandler)); !errors.Is(err,
			syscall.EADDRINUSE) {
			t.Errorf("the address is in use, and it says %v", err)
		}
		listener, err := listen(t.Context(), taken.Addr().String(), slog.New(onWarning(func() { taken.Close() })))
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
	})
}
