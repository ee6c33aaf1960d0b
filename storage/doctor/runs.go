package doctor

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// blob is something that is kept sealed, once for its content.
type blob struct {
	org    uuid.UUID
	kind   seal.Kind
	digest sqldb.Digest
}

// runs decrypts all that runs.db keeps encrypted, whose digests are compared with that.
func (d *doctor) runs() (err error) {
	const name = "runs.db"
	if !d.has(name) {
		return nil
	}
	d.tell("decrypting configurations")
	master, err := storage.ReadMaster(d.ctx, d.settings)
	if err != nil {
		return nil // key tells
	}
	path, err := filepath.Abs(d.path(name))
	if err != nil {
		return err
	}
	db, err := sqldb.Open(d.ctx, sqldb.Options{Path: path, Log: d.log})
	if err != nil {
		d.found(name, doRestore, "a server can't open it: %v", err)
		return d.ctx.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var all []blob
	err = d.ask(name, func(in *sql.DB) (err error) {
		found, err := texts(d.ctx, in, "SELECT org || ' ' || kind || ' ' || hex(digest) FROM blobs WHERE digest IS NOT NULL")
		for _, line := range found {
			var b blob
			var org, kind, sum string
			if _, err := fmt.Sscan(line, &org, &kind, &sum); err != nil {
				return err
			}
			raw, _ := hex.DecodeString(sum)
			if b.org, err = uuid.Parse(org); err != nil || len(raw) != len(b.digest) {
				d.found(name, doRestore, "a row of what is kept sealed is damaged: %.80q", line)
				continue
			}
			b.kind = seal.Kind(kind)
			copy(b.digest[:], raw)
			all = append(all, b)
		}
		return err
	})
	if err != nil {
		d.found(name, doRestore, "its rows can't be read: %v", err)
	}
	sealer := seal.New(master, sqldb.NewKeys(db))
	blobs := sqldb.NewBlobs(db, sealer, nil)
	for _, b := range all {
		if err := d.blob(blobs, b); err != nil {
			return err
		}
	}
	return d.besideBlobs(sealer)
}

// besideBlobs opens what else is kept encrypted.
func (d *doctor) besideBlobs(sealer *seal.Sealer) error {
	d.tell("decrypting variables, logs and plans")
	err := d.ask("runs.db", func(in *sql.DB) error {
		return sealed{doctor: d, db: in, sealer: sealer, bad: map[string]bool{}}.all()
	})
	if ended := d.ctx.Err(); ended != nil || err == nil {
		return ended
	}
	d.found("runs.db", doRestore, "its rows can't be read: %v", err)
	return nil
}

func (d *doctor) blob(blobs *sqldb.Blobs, b blob) error {
	d.report.Checked.Blobs++
	from, _, err := blobs.Open(d.ctx, b.org, b.kind, b.digest)
	if err == nil {
		_, err = io.Copy(io.Discard, from)
	}
	if ended := d.ctx.Err(); ended != nil || err == nil {
		return ended
	}
	d.found("runs.db", doRestore, "a %s of %s (%x) can't be read: %v", b.kind, b.org, b.digest[:6], err)
	return nil
}

// key reads the master key file.
func (d *doctor) key() error {
	if _, err := storage.ReadMaster(d.ctx, d.settings); err != nil && d.has("runs.db") {
		d.found(d.settings.MasterKeyPath(), doKey, "the master key can't be read, and so nothing that is kept encrypted: %v", err)
	}
	return nil
}
