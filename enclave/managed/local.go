// Package managed brings about partitions without a configuration of their own, as far as this machine can.
package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/durable"
)

// Local keeps partitions of the cloud "local" as files below a folder: each has an address on this machine
// that is its own, and nothing listens there.
type Local struct{ Root string }

var _ reconcile.Driver = Local{}

// kept is a partition in its file.
type kept struct {
	Record  enclave.Record             `json:"record"`
	Inputs  []enclave.Resolved         `json:"inputs"`
	Outputs map[string]json.RawMessage `json:"outputs"`
}

// fileName is the file within a partition's folder.
const fileName = "managed.json"

func (l Local) file(path string) string {
	return filepath.Join(l.Root, filepath.FromSlash(path), fileName)
}

// Provision implements reconcile.Driver. Values that are sensitive are not kept.
func (l Local) Provision(_ context.Context, p *enclave.Partition, record enclave.Record, inputs []enclave.Resolved) (
	map[string]enclave.Output, error) {
	outputs, err := outputsOf(p)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(kept{record, enclave.WithoutSecrets(inputs), outputs}, "", "  ")
	if err != nil {
		return nil, err
	}
	file := l.file(p.Path())
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	return told(outputs), durable.Write(file, string(text)+"\n")
}

// outputsOf are those that a partition's interface promises.
func outputsOf(p *enclave.Partition) (map[string]json.RawMessage, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(p.Path()))
	port := 20_000 + sum.Sum32()%10_000
	all := map[string]any{"hostname": "localhost", "port": port}
	switch p.Produces {
	case enclave.HTTP:
		all["url"] = fmt.Sprintf("http://localhost:%d", port)
	case enclave.Queue:
		all = map[string]any{"queue_name": p.Enclave.ID + "-" + p.ID, "queue_url": "local://" + p.Path()}
	}
	outputs := map[string]json.RawMessage{}
	for name, value := range all {
		outputs[name], _ = json.Marshal(value) // texts and numbers
	}
	for _, name := range p.DeclaredOutputs {
		if _, ok := outputs[name]; !ok {
			return nil, fmt.Errorf("a managed partition that produces %s has %v here, and no %s", p.Produces,
				slices.Sorted(maps.Keys(outputs)), name)
		}
	}
	return outputs, nil
}

func told(outputs map[string]json.RawMessage) map[string]enclave.Output {
	all := map[string]enclave.Output{}
	for name, value := range outputs {
		all[name] = enclave.Output{Value: value}
	}
	return all
}

func (l Local) read(path string) (*kept, error) {
	text, err := os.ReadFile(l.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", l.file(path), err)
	}
	return &k, nil
}

// Observe implements reconcile.Driver.
func (l Local) Observe(_ context.Context, path string) (reconcile.Observed, error) {
	k, err := l.read(path)
	if err != nil || k == nil {
		return reconcile.Observed{}, err
	}
	return reconcile.Observed{Exists: true, Outputs: told(k.Outputs),
		Same: func(_ *enclave.Partition, record enclave.Record, inputs []enclave.Resolved) bool {
			was, err := k.Record.Text()
			is, err2 := record.Text()
			return err == nil && err2 == nil && string(was) == string(is) &&
				slices.Equal(k.Inputs, enclave.WithoutSecrets(inputs))
		}}, nil
}

// Teardown implements reconcile.Driver.
func (l Local) Teardown(_ context.Context, path string) error {
	err := os.Remove(l.file(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Records implements reconcile.Driver.
func (l Local) Records(context.Context) (all []enclave.Record, err error) {
	files, err := filepath.Glob(filepath.Join(l.Root, "*", "*", fileName))
	for _, file := range files {
		rel, err := filepath.Rel(l.Root, filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		k, err := l.read(filepath.ToSlash(rel))
		if err != nil {
			return nil, err
		}
		if k != nil {
			all = append(all, k.Record)
		}
	}
	return all, err
}
