package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
	"github.com/holdfast/holdfast/state"
)

// brought is what became of one state.
type brought struct {
	From     string `json:"from"`
	Name     string `json:"name"`
	Versions int    `json:"versions"` // that the source has
	Stored   int    `json:"stored"`   // or would be
	Serial   uint64 `json:"serial"`   // of the newest
	Digest   string `json:"digest"`   // likewise
	Error    string `json:"error,omitempty"`
}

// bring imports states, one after the other. One that can't be brought doesn't keep the others
// back, and is told at the end.
func (a *app) bring(ctx context.Context, c *client.Client, from elsewhere.Source, names []string,
	flags broughtFlags) error {
	if len(names) == 0 {
		var err error
		if names, err = from.List(ctx); err != nil {
			return fmt.Errorf("listing the states of %s: %w", from.About(), err)
		}
		if len(names) == 0 {
			return fmt.Errorf("there are no states in %s; nothing was done", from.About())
		}
	}
	p := a.startProgress("Importing", "version", 0)
	all, failed := make([]brought, 0, len(names)), 0
	for _, name := range names {
		one := importOf{ctx: ctx, client: c, source: from, flags: flags, progress: p, now: a.now()}
		made, err := one.bring(name)
		if ctx.Err() != nil {
			p.end()
			return fmt.Errorf("interrupted; run it again to go on: %w", ctx.Err())
		}
		if err != nil {
			made.Error, failed = err.Error(), failed+1
		}
		all = append(all, made)
	}
	p.end()
	if len(all) == 1 && failed == 1 {
		return fmt.Errorf("%s was not imported: %s", all[0].Name, all[0].Error)
	}
	if err := a.showBrought(all, flags); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s of %d could not be imported", counted(int64(failed), "state"), len(all))
	}
	return nil
}

func (a *app) showBrought(all []brought, flags broughtFlags) error {
	if flags.asJSON {
		return showJSON(a.stdout, all)
	}
	stored := "STORED"
	if flags.dryRun {
		stored = "TO STORE"
	}
	t := a.newTable(head{"STATE", always}, head{"VERSIONS", firm}, head{stored, firm}, head{"SERIAL", firm},
		head{"NEWEST", firm})
	for _, one := range all {
		newest := one.Digest
		if len(newest) > 12 {
			newest = newest[:12]
		}
		t.add(one.Name, strconv.Itoa(one.Versions), strconv.Itoa(one.Stored), strconv.FormatUint(one.Serial, 10), newest)
	}
	err := t.show()
	for _, one := range all {
		if one.Error != "" {
			a.note("%s: %s", one.Name, one.Error)
		}
	}
	return err
}

// importOf is the import of one state.
type importOf struct {
	ctx      context.Context
	client   *client.Client
	source   elsewhere.Source
	flags    broughtFlags
	progress *progress
	now      time.Time

	name  string
	there []api.Version // what is here already, the oldest first
	found int           // how much of it was come by
	last  uint64        // number of the newest that is here
	at    time.Time     // of the version before
}

func (i *importOf) bring(from string) (made brought, err error) {
	made.From, made.Name = from, from
	if i.name, err = i.flags.named(from); err != nil {
		return made, fmt.Errorf("it can't be called that here: %w", err)
	}
	made.Name = i.name
	if err := i.look(); err != nil {
		return made, err
	}
	for version, err := range i.source.Versions(i.ctx, from) {
		if err != nil {
			return made, err
		}
		made.Versions++
		stored, err := i.version(version, &made)
		if err != nil {
			return made, fmt.Errorf("%s: %w", strings.TrimSpace("version "+strconv.Itoa(made.Versions)+" "+version.Label), err)
		}
		if stored {
			made.Stored++
		}
		i.progress.add()
	}
	return made, nil
}

// look reads what is here.
func (i *importOf) look() error {
	for v, err := range i.client.Versions(i.name, 0).All(i.ctx) {
		if client.IsCode(err, "state_not_found") {
			return nil
		}
		if err != nil {
			return err
		}
		i.there = append(i.there, v)
	}
	slices.Reverse(i.there)
	n := len(i.there)
	if n == 0 {
		return nil
	}
	i.last = i.there[n-1].Number
	found, err := i.client.FindState(i.ctx, i.name)
	if err == nil && found != nil && found.DeletedAt != nil {
		err = errDeleted
	}
	return err
}

var errDeleted = errors.New("here it was deleted; `holdfast state undelete` brings it back, or import into another " +
	"name with --into")

var errOther = errors.New("here the state has a history of its own, which this does not continue, and stays as it " +
	"is; import into another name with --into")

// version stores one version, unless it is here, and reports whether it did or would have.
func (i *importOf) version(v elsewhere.Version, made *brought) (stored bool, err error) {
	summary, err := state.Scan(v.Body)
	if err != nil {
		return false, fmt.Errorf("it is no state: %w", err)
	}
	sum := sha256.Sum256(v.Body)
	made.Serial, made.Digest = summary.Serial, hex.EncodeToString(sum[:])
	if i.isHere(made.Digest) || i.wasHere(v) {
		return false, nil
	}
	if !i.continues(v, summary) {
		return false, errOther
	}
	i.at = i.timeOf(v)
	if i.flags.dryRun {
		return true, nil
	}
	got, err := i.client.Import(i.ctx, i.name, bytes.NewReader(v.Body),
		client.Import{At: i.at, After: i.last, Source: i.about(v)})
	if err == nil && got.Digest != made.Digest {
		err = fmt.Errorf("the server has the digest %s of it, not %s", got.Digest, made.Digest)
	}
	i.last = got.Number
	return true, err
}

// isHere reports whether a version is among those here that were not come by yet.
func (i *importOf) isHere(digest string) bool {
	at := slices.IndexFunc(i.there[i.found:], func(v api.Version) bool { return v.Digest == digest })
	if at < 0 {
		return false
	}
	i.at = later(i.at, i.there[i.found+at].CreatedAt)
	i.found += at + 1
	return true
}

// wasHere reports whether a version is so old that retention has removed it here.
func (i *importOf) wasHere(v elsewhere.Version) bool {
	return i.found == 0 && len(i.there) > 0 && i.there[0].Number > 1 && !v.At.IsZero() && v.At.Before(i.there[0].CreatedAt)
}

// continues reports whether a version may follow all that is here: because that is the beginning of
// the same history, or because its client has counted on from there. One whose time is not known may
// be older than what was written here, and counts on from what was imported only.
func (i *importOf) continues(v elsewhere.Version, next state.Summary) bool {
	if i.found == len(i.there) {
		return true
	}
	newest := i.there[len(i.there)-1]
	if next.Lineage != newest.Lineage || next.Serial <= newest.Serial || v.At.IsZero() && !wasImported(newest) {
		return false
	}
	i.found = len(i.there)
	return true
}

func wasImported(v api.Version) bool {
	return v.Origin != nil && strings.HasPrefix(v.Origin.Reason, importedFrom)
}

// timeOf is when a version was written, as far as is known: no version is before the one that it
// follows, and none is in the future of this machine.
func (i *importOf) timeOf(v elsewhere.Version) time.Time {
	at := v.At
	if at.IsZero() && i.at.IsZero() || at.After(i.now) {
		at = i.now
	}
	return later(at, i.at)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// importedFrom is what the source of each imported version begins with.
const importedFrom = "imported from "

// about is what is recorded as the version's source.
func (i *importOf) about(v elsewhere.Version) string {
	text := importedFrom + i.source.About()
	if v.Label != "" {
		text += ", " + v.Label
	}
	if v.At.IsZero() {
		text += ", whose time is not known"
	}
	return text
}
