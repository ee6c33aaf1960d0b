// Package local runs the tools of partitions on this machine, in folders of their own: with links to the user's
// files, which it never changes, and with states and locks at the server.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/folder"
)

// Runner is a driver of partitions with a configuration. It needs a server for their states.
type Runner struct {
	Root    string   // of the folders: Root/ENCLAVE/PARTITION
	Dir     string   // of the folder of enclaves
	Address string   // of the server
	User    string   // that goes with the password
	Key     string   // the password: it reaches the tools by their environment alone
	Environ []string // that the tools are given, but for what would change what they do
	// DeleteState deletes a state once nothing is left in it.
	DeleteState func(ctx context.Context, path string) error
	// RunRecords is where the records of runs go; nil for nowhere. Reconcile is what all of them have in common.
	RunRecords reconcile.Records
	Reconcile  string
	// Tell hears what a tool prints; nil for nobody.
	Tell func(path string, line []byte)
}

var _ reconcile.Driver = (*Runner)(nil)

// Names of what is in a partition's folder beside links.
const (
	backendFile  = "nclav_backend.tf"
	variableFile = "nclav_context.auto.tfvars"
	appliedFile  = ".holdfast/applied.json"
	pendingFile  = ".holdfast/pending.json"
	sourcesDir   = ".holdfast/sources" // a copy, for when the user's files are gone
	lockFile     = ".terraform.lock.hcl"
)

// kept is what is known of a partition that was applied, or begun to be.
type kept struct {
	Record  enclave.Record     `json:"record"`
	Inputs  []enclave.Resolved `json:"inputs"` // without the values of sensitive ones
	Files   map[string]string  `json:"files"`  // SHA-256 by path
	Binary  string             `json:"binary"`
	AuthEnv map[string]string  `json:"auth_env"` // none of it is a secret
}

func (r *Runner) folder(path string) string { return filepath.Join(r.Root, filepath.FromSlash(path)) }

// Provision implements reconcile.Driver: init, then apply.
func (r *Runner) Provision(ctx context.Context, p *enclave.Partition, record enclave.Record,
	inputs []enclave.Resolved) (map[string]enclave.Output, error) {
	binary, err := binaryOf(p)
	if err != nil {
		return nil, err
	}
	dir, source := r.folder(p.Path()), filepath.Join(r.Dir, filepath.FromSlash(p.Dir))
	files, err := digests(source)
	if err != nil {
		return nil, err
	}
	k := kept{record, enclave.WithoutSecrets(inputs), files, binary, p.Enclave.Driver().AuthEnv(p.Enclave)}
	held, err := r.hold(ctx, p.Path())
	if err != nil {
		return nil, err
	}
	defer held.Close()
	before, was, err := r.known(p.Path())
	if err != nil {
		return nil, err
	}
	was = was || before != nil
	if err := r.begin(dir, k); err != nil {
		return nil, err
	}
	if err := lay(dir, source, p.Context(), inputs); err != nil {
		return nil, err
	}
	at := place{path: p.Path(), dir: dir, binary: binary, env: k.AuthEnv, secrets: secretsOf(inputs), held: held}
	operation := "Provision"
	if was {
		operation = "Update"
	}
	err = r.recorded(ctx, at, operation, func(ctx context.Context, at place) (json.RawMessage, error) {
		if err := r.steps(ctx, at, r.initArgs(p.Path()), mutating("apply")); err != nil {
			return nil, err
		}
		return r.declared(ctx, at, p.DeclaredOutputs)
	})
	if err != nil {
		return nil, err
	}
	return nil, os.Rename(filepath.Join(dir, pendingFile), filepath.Join(dir, appliedFile))
}

// begin says that what was applied is not known to be there any more, and keeps what a teardown needs.
func (r *Runner) begin(dir string, k kept) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.Write(filepath.Join(dir, pendingFile), string(text)+"\n"); err != nil {
		return err
	}
	return removeAny(filepath.Join(dir, appliedFile))
}

func removeAny(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func secretsOf(inputs []enclave.Resolved) map[string]string {
	all := map[string]string{}
	for _, in := range inputs {
		if in.Sensitive {
			all[in.Name] = in.Value
		}
	}
	return all
}

// digests are those of a folder's files.
func digests(dir string) (map[string]string, error) {
	files, _, err := folder.Read(dir)
	return byPath(files), err
}

func byPath(files []api.SnapshotFile) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = f.SHA256
	}
	return all
}

func read(file string) (*kept, error) {
	var k kept
	found, err := readJSON(file, &k)
	if err != nil || !found {
		return nil, err
	}
	return &k, nil
}

// readJSON reads a file, if it is there.
func readJSON(file string, into any) (found bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	return true, nil
}

// known is what is known of a partition: applied, or else begun.
func (r *Runner) known(path string) (k *kept, applied bool, err error) {
	k, err = read(filepath.Join(r.folder(path), appliedFile))
	if k != nil || err != nil {
		return k, true, err
	}
	k, err = read(filepath.Join(r.folder(path), pendingFile))
	return k, false, err
}

// Observe implements reconcile.Driver by `output -json`: where that fails, nothing is there.
func (r *Runner) Observe(ctx context.Context, path string) (reconcile.Observed, error) {
	k, applied, err := r.known(path)
	if err != nil || k == nil {
		return reconcile.Observed{}, err
	}
	at := place{path: path, dir: r.folder(path), binary: k.Binary, env: k.AuthEnv}
	if err := dropDangling(at.dir); err != nil {
		return reconcile.Observed{}, err
	}
	text, err := r.capture(ctx, at, "output", "-json", "-no-color")
	if err != nil {
		return reconcile.Observed{}, ctx.Err()
	}
	var said map[string]enclave.Output
	if err := json.Unmarshal(text, &said); err != nil {
		return reconcile.Observed{}, nil
	}
	return reconcile.Observed{Exists: true, Outputs: said,
		Same: func(p *enclave.Partition, record enclave.Record, inputs []enclave.Resolved) bool {
			return applied && r.same(k, p, record, inputs)
		}}, nil
}

// same reports whether a partition was applied with the same record, inputs and files.
func (r *Runner) same(k *kept, p *enclave.Partition, record enclave.Record, inputs []enclave.Resolved) bool {
	was, err := k.Record.Text()
	is, err2 := record.Text()
	if err != nil || err2 != nil || string(was) != string(is) || !slices.Equal(k.Inputs, enclave.WithoutSecrets(inputs)) {
		return false
	}
	files, err := digests(filepath.Join(r.Dir, filepath.FromSlash(p.Dir)))
	return err == nil && maps.Equal(files, k.Files)
}

// declared are the declared outputs that there are, as the tool says them, without what is sensitive.
func (r *Runner) declared(ctx context.Context, at place, names []string) (json.RawMessage, error) {
	text, err := r.capture(ctx, at, "output", "-json", "-no-color")
	if err != nil {
		return nil, fmt.Errorf("output failed: %w", err)
	}
	said := map[string]shownOutput{}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("output failed: %w", err)
	}
	all := map[string]shownOutput{}
	var missing []string
	for _, name := range names {
		out, ok := said[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		if out.Sensitive {
			out.Value = nil
		}
		all[name] = out
	}
	if len(missing) > 0 {
		return nil, errors.New("these declared outputs are missing: " + strings.Join(missing, ", "))
	}
	return json.Marshal(all)
}

// shownOutput is an output as a tool says it.
type shownOutput struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

// Teardown implements reconcile.Driver: destroy, then the state is deleted, then the folder.
func (r *Runner) Teardown(ctx context.Context, path string) error {
	k, _, err := r.known(path)
	if err != nil || k == nil {
		return err
	}
	held, err := r.hold(ctx, path)
	if err != nil {
		return err
	}
	defer held.Close()
	dir := r.folder(path)
	if err := restore(dir); err != nil {
		return err
	}
	at := place{path: path, dir: dir, binary: k.Binary, env: k.AuthEnv, secrets: map[string]string{}, held: held}
	for _, in := range k.Inputs {
		if in.Sensitive {
			at.secrets[in.Name] = "" // what it was is not kept
		}
	}
	err = r.recorded(ctx, at, "Teardown", func(ctx context.Context, at place) (json.RawMessage, error) {
		if err := r.steps(ctx, at, r.initArgs(path), mutating("destroy")); err != nil {
			return nil, err
		}
		return nil, r.DeleteState(ctx, path)
	})
	if err != nil {
		return err
	}
	return r.discard(dir)
}

// discarded is behind the name of a folder that is being removed. No partition is called so.
const discarded = "~"

// discard removes a partition's folder: it is all there, or nothing is known of it.
func (r *Runner) discard(dir string) error {
	if err := errors.Join(os.RemoveAll(dir+discarded), os.Rename(dir, dir+discarded)); err != nil {
		return err
	}
	return os.RemoveAll(dir + discarded)
}

// Records implements reconcile.Driver.
func (r *Runner) Records(context.Context) (all []enclave.Record, err error) {
	left, err := filepath.Glob(filepath.Join(r.Root, "*", "*"+discarded))
	for _, dir := range left { // who removed it was stopped
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range []string{appliedFile, pendingFile} {
		files, err := filepath.Glob(filepath.Join(r.Root, "*", "*", filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			dir := filepath.Dir(filepath.Dir(file))
			if k, err := read(file); err != nil {
				return nil, err
			} else if k != nil && !found[dir] && strings.HasSuffix(filepath.ToSlash(dir), "/"+k.Record.Path()) {
				found[dir] = true
				all = append(all, k.Record)
			}
		}
	}
	return all, nil
}
