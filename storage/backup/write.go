package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
)

// Options say how an archive is written.
type Options struct {
	To      []age.Recipient // who can read it; none for an archive that is not encrypted
	Since   *Index          // of the archive before, for only what changed; nil for all
	Version string          // of the program
	Tell    func(bytes int64)
}

// Write writes an archive of a moment, and returns its manifest and what the next one needs to be what
// changed since.
func Write(ctx context.Context, out io.Writer, from *Moment, o Options) (_ Manifest, _ Index, err error) {
	w := &writer{ctx: ctx, options: o, index: Index{ID: uuid.NewString(), Files: map[string][]digest{}}}
	w.manifest.Begin = Begin{Format: format, ID: w.index.ID, At: from.At, Version: o.Version}
	if o.Since != nil {
		w.manifest.Since = o.Since.ID
	}
	if len(o.To) > 0 {
		sealed, err := age.Encrypt(out, o.To...)
		if err != nil {
			return w.manifest, w.index, err
		}
		w.ends, out = append(w.ends, sealed), sealed
	}
	packed, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(windowSize))
	if err != nil {
		return w.manifest, w.index, err
	}
	w.tar = tar.NewWriter(packed)
	w.ends = append(w.ends, packed, w.tar)
	err = w.all(from)
	if err != nil {
		return w.manifest, w.index, err // what was begun is not ended: it is no archive
	}
	for i := len(w.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, w.ends[i].Close())
	}
	return w.manifest, w.index, err
}

// windowSize is how much of what was before a reader has to keep.
const windowSize = 8 << 20

type writer struct {
	ctx      context.Context
	options  Options
	tar      *tar.Writer
	ends     []io.Closer
	manifest Manifest
	index    Index
}

func (w *writer) all(from *Moment) error {
	if _, err := w.json(beginName, w.manifest.Begin); err != nil {
		return err
	}
	for _, f := range from.Files {
		if !isFileName(f.Name) {
			return fmt.Errorf("%q can't be the name of a file in a backup", f.Name)
		}
		if err := w.file(f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if from.Stream != nil {
		if err := w.stream(from.Stream); err != nil {
			return err
		}
	}
	text, err := w.json(manifestName, w.manifest)
	w.index.Manifest = manifestSum(text)
	return err
}

// StreamName is what the names of files begin with that Moment.Stream is kept in.
const StreamName = "database-"

// streamSize is how much one of them has: it is in memory as it is written.
const streamSize = 8 << 20

// stream writes what is read to its end.
func (w *writer) stream(from io.Reader) error {
	piece := make([]byte, streamSize)
	for number := 1; ; number++ {
		n, err := io.ReadFull(from, piece)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		if n > 0 {
			f := File{fmt.Sprintf("%s%06d", StreamName, number), int64(n), bytes.NewReader(piece[:n])}
			if err := w.file(f); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func (w *writer) json(name string, value any) ([]byte, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return text, w.part(name, text)
}

func (w *writer) head(name string, size int64) error {
	return w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: w.manifest.At, Format: tar.FormatPAX})
}

func (w *writer) part(name string, content []byte) error {
	if err := w.head(name, int64(len(content))); err != nil {
		return err
	}
	_, err := w.tar.Write(content)
	return err
}

// file writes a file, or those of its blocks that are others than before.
func (w *writer) file(f File) error {
	known, had := []digest(nil), false
	if w.options.Since != nil {
		known, had = w.options.Since.Files[f.Name]
	}
	if !had {
		if err := w.head(wholeFolder+f.Name, f.Size); err != nil {
			return err
		}
	}
	all, run := sha256.New(), changed{w: w, file: f.Name}
	block, left := make([]byte, blockSize), f.Size
	for i := 0; left > 0; i++ {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		piece := block[:min(left, blockSize)]
		if _, err := io.ReadFull(f.Content, piece); err != nil {
			return fmt.Errorf("it is shorter than it was: %w", err)
		}
		left -= int64(len(piece))
		all.Write(piece)
		sum := sha256.Sum256(piece)
		short := digest(sum[:16])
		w.index.Files[f.Name] = append(w.index.Files[f.Name], short)
		var err error
		switch {
		case !had:
			_, err = w.tar.Write(piece)
		case i >= len(known) || known[i] != short:
			err = run.add(int64(i)*blockSize, piece)
		default:
			err = run.flush()
		}
		if err != nil {
			return err
		}
		if w.options.Tell != nil {
			w.options.Tell(int64(len(piece)))
		}
	}
	if _, had := w.index.Files[f.Name]; !had {
		w.index.Files[f.Name] = []digest{}
	}
	w.manifest.Files = append(w.manifest.Files, Described{f.Name, f.Size, hex.EncodeToString(all.Sum(nil))})
	return run.flush()
}

// changed gathers blocks that follow each other.
type changed struct {
	w     *writer
	file  string
	at    int64
	bytes []byte
}

// changedAtOnce is how much one part of an archive has of a file at most.
const changedAtOnce = 4 << 20

func (c *changed) add(at int64, block []byte) error {
	if len(c.bytes) == 0 {
		c.at = at
	}
	c.bytes = append(c.bytes, block...)
	if len(c.bytes) < changedAtOnce {
		return nil
	}
	return c.flush()
}

func (c *changed) flush() error {
	if len(c.bytes) == 0 {
		return nil
	}
	err := c.w.part(changeName(c.file, c.at), c.bytes)
	c.bytes = c.bytes[:0]
	return err
}
