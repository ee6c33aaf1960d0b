package reconcile

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
)

// Server is what a reconcile needs of a server. What is not there is a zero value, and no error.
type Server interface {
	// Workspaces lists all of them, by name.
	Workspaces(ctx context.Context) ([]api.Workspace, error)
	Workspace(ctx context.Context, name string) (*api.Workspace, error)
	// Configure makes a workspace, or changes one that exists.
	Configure(ctx context.Context, name string, exists bool, change api.WorkspaceChange) error
	RemoveWorkspace(ctx context.Context, name string) error
	// Variables are a workspace's own.
	Variables(ctx context.Context, name string) ([]api.Variable, error)
	ChangeVariables(ctx context.Context, name string, change api.VariablesChange) error
	// Snapshot is a workspace's newest configuration.
	Snapshot(ctx context.Context, name string) (api.SnapshotFiles, error)
	// Push makes files a workspace's newest configuration, which builds on the snapshot of that number.
	Push(ctx context.Context, name string, files []File, parent int64, message string) (api.Snapshot, error)
	// File is a file of the newest configuration, of at most limit bytes.
	File(ctx context.Context, name, path string, limit int64) ([]byte, error)
	// Runs lists a workspace's newest runs, the newest first.
	Runs(ctx context.Context, name string, limit int) ([]api.Run, error)
	Order(ctx context.Context, order api.RunOrder, key string) (api.Run, error)
	Discard(ctx context.Context, id, reason string) error
	// Await follows a run until it has ended, or waits for somebody's approval; with wait, until it has ended.
	Await(ctx context.Context, id string, wait bool, tell func(line []byte)) (api.Run, error)
	// Outputs are those of a state's newest version, with its number: 0 where there is no state.
	Outputs(ctx context.Context, name string, sensitive bool) (map[string]enclave.Output, uint64, error)
	DeleteState(ctx context.Context, name string) error
}

// Records keeps the records of runs that are made on this machine, path by path. All calls may be repeated. Errors that
// are ErrNoRecord are for good.
type Records interface {
	Begin(ctx context.Context, path string, order api.IACRunOrder, key string) (api.IACRun, error)
	// Append adds bytes to the log of a stage, plan or apply, and returns where it ends.
	Append(ctx context.Context, run api.IACRun, stage string, offset int64, piece []byte) (int64, error)
	Renew(ctx context.Context, run api.IACRun, sign api.IACRunSign) (api.Lease, error)
	End(ctx context.Context, run api.IACRun, end api.IACRunEnd) error
}

// ErrNoRecord says that the server takes a record no more, or never.
var ErrNoRecord = errors.New("it is refused")

// File is one that is to be pushed.
type File struct {
	api.SnapshotFile
	Source string // where it is on this machine; empty where Text has it
	Text   []byte
}

// Driver brings about partitions that no run of the server does.
type Driver interface {
	// Provision makes a partition as its record and inputs say, and returns its outputs.
	Provision(ctx context.Context, p *enclave.Partition, record enclave.Record, inputs []enclave.Resolved) (
		map[string]enclave.Output, error)
	// Observe says what there is.
	Observe(ctx context.Context, path string) (Observed, error)
	// Teardown takes a partition away; one that isn't there is fine.
	Teardown(ctx context.Context, path string) error
	// Records are those of all partitions that it keeps.
	Records(ctx context.Context) ([]enclave.Record, error)
}

// Observed is what there is of a partition.
type Observed struct {
	Exists  bool                      `json:"exists"`
	Outputs map[string]enclave.Output `json:"-"`
	// Same says whether it was made of the same record, inputs and files.
	Same func(*enclave.Partition, enclave.Record, []enclave.Resolved) bool `json:"-"`
}
