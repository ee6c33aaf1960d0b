// Package doctor reads all that a server keeps, and says what is damaged, unreadable or contradicts itself.
//
// It reads a copy of one moment in a folder, by the engines that a server reads with: so what they refuse is found, a
// server goes on meanwhile, and nothing is changed by looking. What is in a database server is copied into files as
// those of a folder are.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/backup"
)

// Finding is something that is not as it should be.
type Finding struct {
	Where string `json:"where"` // a file, and what in it
	What  string `json:"what"`
	Do    string `json:"do"`
	// Repair is what --repair does about it; empty where a person has to.
	Repair string `json:"repair,omitempty"`
}

// The repairs.
const (
	RepairUsage  = "what organizations use is counted anew"
	RepairTotals = "states and locks are counted anew"
	RepairLists  = "lists find all again"
)

// What a person can do.
const (
	doRestore = "restore a backup (`holdfast restore`); what was written since is in the clients' hands"
	doState   = "restore a backup beside this store and bring the state's versions from there (`holdfast export`, " +
		"`holdfast import export`), or purge this version; other versions are served"
	doKey       = "put the master key file of the time back that has the key (seal.master_key_file)"
	doForgotten = "remove the organization with its data once more, which a backup has brought back (`holdfast org shred`)"
)

// unlessForgotten returns what to do about an error: something else where the organization was shredded, whose keys
// are not to come back.
func unlessForgotten(err error, do string) string {
	if errors.Is(err, seal.ErrForgotten) {
		return doForgotten
	}
	return do
}

// Checked says how much was looked at.
type Checked struct {
	Files      int64 `json:"files"`
	Bytes      int64 `json:"bytes"`
	Versions   int64 `json:"versions"`
	Candidates int64 `json:"candidates"`
	Blobs      int64 `json:"blobs"`    // of what is kept encrypted
	Segments   int64 `json:"segments"` // of files of uploads
	Entries    int64 `json:"entries"`  // of the audit log that are chained
	Blanked    int64 `json:"blanked"`  // of the audit log, shredded or removed as old
}

// Report is what was found.
type Report struct {
	Findings []Finding `json:"findings"`
	Checked  Checked   `json:"checked"`
}

// doctor is one look at a store.
type doctor struct {
	ctx      context.Context
	settings configs.Settings // of the copy
	log      *slog.Logger
	report   *Report
	tell     func(string)
	called   map[string]string // files that are copies of what has another name
}

func (d *doctor) found(where, do, what string, args ...any) *Finding {
	where = cmp.Or(d.called[where], where)
	d.report.Findings = append(d.report.Findings, Finding{Where: where, What: fmt.Sprintf(what, args...), Do: do})
	return &d.report.Findings[len(d.report.Findings)-1]
}

// Unreadable puts databases into a report that could not even be opened.
func (r *Report) Unreadable(name string, err error) {
	f := Finding{Where: name, What: fmt.Sprintf("it can't be read: %v", err), Do: doRestore}
	r.Findings = append(r.Findings, f)
}

// Check copies a moment into a folder, which is empty, closes it, and reads the copy. It fails only where it
// can't go on; what it finds is in the report. tell is told of what it comes to.
func Check(ctx context.Context, moment *backup.Moment, settings configs.Settings, scratch string, report *Report,
	log *slog.Logger, tell func(string)) error {
	master := settings.MasterKeyPath() // of the store, and not beside the copy
	settings.Seal.MasterKeyFile = master
	settings.Storage.Path, settings.Storage.OutboxPath = scratch, ""
	d := &doctor{ctx: ctx, settings: settings, log: log, report: report, tell: tell, called: map[string]string{}}
	for _, f := range moment.Files {
		if err := d.copy(f, scratch); err != nil {
			return err
		}
	}
	if err := moment.Close(); err != nil { // a server may start meanwhile
		return err
	}
	for _, step := range []func() error{d.fromServer, d.databases, d.states, d.runs, d.uploads, d.key} {
		if err := step(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a file of the moment. One that can't be read to its end is a finding, and left out.
func (d *doctor) copy(f backup.File, scratch string) (err error) {
	d.tell("copying " + f.Name)
	path := filepath.Join(scratch, f.Name)
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	source := &reading{from: f.Content}
	n, err := io.CopyN(to, source, f.Size)
	err = errors.Join(err, to.Close())
	d.report.Checked.Bytes += n
	d.report.Checked.Files++
	if err != nil && source.err != nil && d.ctx.Err() == nil {
		d.found(f.Name, doRestore, "it can't be read behind byte %d: %v", n, source.err)
		return os.Remove(path)
	}
	return err
}

// reading remembers that it was the source that failed, and not the copy.
type reading struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (r *reading) Read(into []byte) (int, error) {
	n, err := r.from.Read(into)
	if err != nil {
		r.err = err
	}
	return n, err
}

func (d *doctor) path(name string) string { return filepath.Join(d.settings.Storage.Path, name) }

func (d *doctor) has(name string) bool {
	info, err := os.Stat(d.path(name))
	return err == nil && info.Size() > 0
}
