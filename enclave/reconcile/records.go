package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// RemoteRecords are those of the server that a client calls.
type RemoteRecords struct{ Client *client.Client }

var _ Records = RemoteRecords{}

// Begin implements Records.
func (s RemoteRecords) Begin(ctx context.Context, path string, order api.IACRunOrder, key string) (api.IACRun, error) {
	enclave, partition, _ := strings.Cut(path, "/")
	run, err := s.Client.BeginPartitionRun(ctx, enclave, partition, order, key)
	return run, forGood(err)
}

// Append implements Records.
func (s RemoteRecords) Append(ctx context.Context, run api.IACRun, stage string, offset int64,
	piece []byte) (int64, error) {
	end, err := s.Client.AppendPartitionLog(ctx, run, stage, offset, piece)
	return end, forGood(err)
}

// Renew implements Records.
func (s RemoteRecords) Renew(ctx context.Context, run api.IACRun, sign api.IACRunSign) (api.Lease, error) {
	lease, err := s.Client.RenewPartitionRun(ctx, run, sign)
	return lease, forGood(err)
}

// End implements Records.
func (s RemoteRecords) End(ctx context.Context, run api.IACRun, end api.IACRunEnd) error {
	_, err := s.Client.EndPartitionRun(ctx, run, end)
	return forGood(err)
}

// forGood is ErrNoRecord for a refusal that would be the same again.
func forGood(err error) error {
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok || refusal.Status == 0 || refusal.Passing() {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoRecord, err)
}
