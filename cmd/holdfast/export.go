package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
)

// leaveFlags are what the command line of export says.
type leaveFlags struct {
	output, signingKey string
	dryRun, asJSON     bool
	overwrite          bool
}

func newExportCommand(a *app) *cobra.Command {
	var flags leaveFlags
	cmd := &cobra.Command{
		Use:   "export ORG",
		Short: "Write all that an organization has into an archive that any program opens",
		Long: `Write all that an organization has into a zip file that any program opens: states/NAME/VERSION.tfstate
with what describes them in versions.json, uploads/records.csv, configurations/WORKSPACE/NUMBER.tar.gz,
runs/ID.json with their logs, audit.ndjson (the newest first), and manifest.json with the SHA-256 of each.
What a name has that no file may be called is written as %XX; the manifest has the names themselves. States
that were deleted come along, with "deleted" in the manifest. What retention or somebody removes on the
server meanwhile is listed in the manifest as "removed". Values of sensitive variables are not given
out by a server, and are not in it.

The manifest is signed with Ed25519, by a key that is made at first use (--signing-key). Without Holdfast:

  openssl pkeyutl -verify -rawin -pubin -inkey signing-key.pem \
    -in manifest.json -sigfile manifest.json.sig

One that was broken off has left what it had fetched beside its file, in .NAME.partial and .NAME.kept, for its owner
alone. The same command again takes the versions of states from there that have the digest which the server says, and
removes these files in the end.

ORG is the name or the UUID of the organization that the key belongs to, which needs all rights to read.
"holdfast import export" reads the file. It is not encrypted: states have secrets.`,
		Example: `  holdfast export acme --dry-run
  holdfast export acme -o acme.zip
  holdfast import export acme.zip --dry-run`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "file to write, mode 0600 (default: ORG.zip)")
	cmd.Flags().StringVar(&flags.signingKey, "signing-key", "", "file of the key to sign with, made if missing "+
		"(default: holdfast/export-key.pem in the user's configuration)")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what there is, and write nothing")
	cmd.Flags().BoolVar(&flags.overwrite, "overwrite", false, "replace a file that is there")
	addJSONFlag(cmd, &flags.asJSON)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return a.leave(ctx, c, args[0], flags)
	})
}

// exported is what an export has, in numbers.
type exported struct {
	File           string `json:"file,omitempty"` // empty for a dry run
	Organization   string `json:"organization"`
	States         int    `json:"states"`
	Versions       int    `json:"versions"`
	Purged         int    `json:"purged"` // versions whose bytes were destroyed
	Records        int64  `json:"records"`
	Configurations int    `json:"configurations"`
	Runs           int    `json:"runs"`
	Events         int    `json:"events"`
	Removed        int    `json:"removed"`          // on the server meanwhile
	Signer         string `json:"signer,omitempty"` // fingerprint of the key
}

func (a *app) leave(ctx context.Context, c *client.Client, org string, flags leaveFlags) error {
	who, err := c.Whoami(ctx)
	if err != nil {
		return err
	}
	if org != who.OrgName && org != who.OrgID.String() {
		return fmt.Errorf("the key is one of %s (%s), and not of %q", who.OrgName, who.OrgID, org)
	}
	if who.States != nil {
		return fmt.Errorf("the key is for some states alone: an export needs one that may read all of them")
	}
	l := &leaving{ctx: ctx, client: c, dry: flags.dryRun, made: exported{Organization: who.OrgName}, org: who.OrgID,
		progress: a.startProgress("Exporting", "file", 0)}
	l.manifest = elsewhere.Manifest{Format: elsewhere.ExportFormat, At: a.now().UTC(), Files: []elsewhere.ExportedFile{},
		Organization: elsewhere.Organization{ID: who.OrgID.String(), Name: who.OrgName}}
	if flags.dryRun {
		err = l.all()
	} else {
		err = a.writeExport(l, org, flags)
	}
	l.progress.end()
	if err != nil {
		return interrupted(ctx, err)
	}
	if flags.asJSON {
		return showJSON(a.stdout, l.made)
	}
	return a.showExported(l.made)
}

func (a *app) showExported(made exported) error {
	t := a.newTable(head{"WHAT", firm}, head{"NUMBER", firm})
	for _, row := range []struct {
		what string
		n    int64
	}{{"states", int64(made.States)}, {"versions", int64(made.Versions)}, {"purged versions", int64(made.Purged)},
		{"uploaded records", made.Records}, {"configurations", int64(made.Configurations)}, {"runs", int64(made.Runs)},
		{"audit events", int64(made.Events)}} {
		t.add(row.what, fmt.Sprint(row.n))
	}
	if err := t.show(); err != nil {
		return err
	}
	if made.Removed > 0 {
		a.note("%s was removed on the server meanwhile: see \"removed\" in manifest.json", counted(int64(made.Removed), "thing"))
	}
	if made.File != "" {
		fmt.Fprintf(a.stderr, "All of it is in %s, signed by the key\n%s.\n", made.File, made.Signer)
	}
	return nil
}

func (a *app) writeExport(l *leaving, org string, flags leaveFlags) error {
	key, err := a.signingKey(flags.signingKey)
	if err != nil {
		return err
	}
	l.made.File = flags.output
	if l.made.File == "" {
		l.made.File = elsewhere.FilePaths([]string{org})[org] + ".zip"
	}
	if _, err := os.Lstat(l.made.File); !flags.overwrite && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already, and is left as it is; name another file, or say --overwrite",
			l.made.File), err)
	}
	l.made.Signer = elsewhere.Fingerprint(key.Public().(ed25519.PublicKey))
	if l.kept, err = openKept(l.made.File); err != nil {
		return err
	}
	err = l.kept.write(func(to io.Writer) error {
		l.zip = zip.NewWriter(to)
		if err := l.all(); err != nil {
			return errors.Join(err, l.zip.Close()) // which ends the last one that is whole
		}
		return errors.Join(l.sign(key), l.zip.Close())
	})
	return errors.Join(err, l.kept.close())
}

// leaving writes an export, or only counts.
type leaving struct {
	ctx      context.Context
	client   *client.Client
	dry      bool
	org      [16]byte
	zip      *zip.Writer
	kept     *keptExport // nil where it only counts
	manifest elsewhere.Manifest
	made     exported
	progress *progress
}

func (l *leaving) all() error {
	for _, step := range []func() error{l.states, l.uploads, l.workspaces, l.runs, l.audit} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// sign writes the manifest, its signature and the key to check that by.
func (l *leaving) sign(key ed25519.PrivateKey) error {
	text, err := json.MarshalIndent(l.manifest, "", "  ")
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(l.raw(elsewhere.ExportManifest, text), l.raw(elsewhere.ExportSignature, ed25519.Sign(key, text)),
		l.raw(elsewhere.ExportKey, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
}

func (l *leaving) raw(path string, content []byte) error {
	return l.copyTo(path, bytes.NewReader(content))
}

func (l *leaving) copyTo(path string, from io.Reader) error {
	to, err := l.zip.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: l.manifest.At})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// file writes a file as it comes, and puts it into the manifest.
func (l *leaving) file(f elsewhere.ExportedFile, from io.Reader) error {
	if l.dry {
		return nil
	}
	sum, size := sha256.New(), counter(0)
	if err := l.copyTo(f.Path, io.TeeReader(from, io.MultiWriter(sum, &size))); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if f.SHA256 != "" && f.SHA256 != digest {
		return fmt.Errorf("%s: the server says that its digest is %s, and has sent %s", f.Path, f.SHA256, digest)
	}
	f.SHA256, f.Size = digest, int64(size)
	l.manifest.Files = append(l.manifest.Files, f)
	l.progress.add()
	return nil
}

// counter counts bytes.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(piece []byte) (int, error) {
	*c += counter(len(piece))
	return len(piece), nil
}

func (l *leaving) json(f elsewhere.ExportedFile, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return l.file(f, bytes.NewReader(append(text, '\n')))
}

// states writes all versions of all states, also of those that are deleted.
func (l *leaving) states() error {
	var all []api.State
	var names []string
	for one, err := range l.client.States(client.StatesQuery{Deleted: client.AnyDeletion}).All(l.ctx) {
		if err != nil {
			return err
		}
		if one.Version != nil || one.DeletedAt != nil {
			all, names = append(all, one), append(names, one.Name)
		}
	}
	paths := elsewhere.FilePaths(names)
	for _, one := range all {
		if err := l.state(one, "states/"+paths[one.Name]); err != nil {
			return fmt.Errorf("the state %s: %w", one.Name, err)
		}
	}
	return nil
}

func (l *leaving) state(s api.State, folder string) error {
	var versions []api.Version
	for v, err := range l.client.Versions(s.Name, 0).All(l.ctx) {
		if client.IsCode(err, "state_not_found") {
			l.removed(elsewhere.RemovedFile{Path: folder, State: s.Name})
			return nil
		}
		if err != nil {
			return err
		}
		if !v.Purged && !l.dry {
			now, err := l.version(s, v, folder)
			if err != nil {
				return fmt.Errorf("version %d: %w", v.Number, err)
			}
			if now == nil {
				continue
			}
			v = *now
		}
		versions = append(versions, v)
		if v.Purged {
			l.made.Purged++
		} else {
			l.made.Versions++
		}
	}
	l.made.States++
	return l.json(elsewhere.ExportedFile{Path: folder + "/versions.json", State: s.Name, Deleted: s.DeletedAt != nil},
		struct {
			State    api.State     `json:"state"`
			Versions []api.Version `json:"versions"`
		}{s, versions})
}

// removed writes down what is not in the export because it went meanwhile.
func (l *leaving) removed(what elsewhere.RemovedFile) {
	l.made.Removed++
	l.manifest.Removed = append(l.manifest.Removed, what)
}

// version writes a version, and returns what it is by then: nil for one that was removed since it was listed.
func (l *leaving) version(s api.State, v api.Version, folder string) (_ *api.Version, err error) {
	path := fmt.Sprintf("%s/%d.tfstate", folder, v.Number)
	at := v.CreatedAt.UTC().Truncate(time.Microsecond)
	file := elsewhere.ExportedFile{Path: path, State: s.Name, Version: v.Number, At: &at, SHA256: v.Digest,
		Deleted: s.DeletedAt != nil}
	if kept := l.kept.open(v.Digest); kept != nil {
		return &v, l.file(file, kept)
	}
	content, err := l.client.Get(l.ctx, s.Name, client.Which{Version: v.Number})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status/100 == 4 {
		now, listed := l.listed(s.Name, v.Number)
		if listed != nil {
			return nil, errors.Join(err, listed)
		}
		if now == nil || now.Purged {
			l.removed(elsewhere.RemovedFile{Path: path, State: s.Name, Version: v.Number})
			return now, nil
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return &v, l.file(file, content)
}

// listed is a version as the server lists it now; nil where it doesn't.
func (l *leaving) listed(state string, number uint64) (*api.Version, error) {
	for v, err := range l.client.Versions(state, 0).All(l.ctx) {
		if client.IsCode(err, "state_not_found") {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if v.Number == number {
			return &v, nil
		}
	}
	return nil, nil
}
