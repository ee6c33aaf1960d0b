package statefile

import (
	"context"
	"time"
)

// Store keeps one state.
//
// Read returns nil when there has never been a state; a state that can't be read is an error, so that
// nobody takes it for none. Write keeps the whole state or, with an error, leaves what was there. Lock is
// exclusive across processes and machines that share the store; what it returns releases it. Who holds a
// lock alone reads and writes.
type Store interface {
	Read(ctx context.Context) (*File, error)
	Write(ctx context.Context, f *File) error
	Lock(ctx context.Context, info LockInfo) (release func(context.Context) error, err error)
	ForceUnlock(ctx context.Context, id string) error
}

// LockInfo says who holds a lock and why, in the form that backends of Terraform use.
type LockInfo struct {
	ID        string    `json:"ID"`
	Operation string    `json:"Operation"`
	Info      string    `json:"Info"`
	Who       string    `json:"Who"`
	Version   string    `json:"Version"`
	Created   time.Time `json:"Created"`
	Path      string    `json:"Path"`
}
