package seal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// PieceBytes is how much plaintext a piece has at most.
const PieceBytes = 1 << 20

// A piece's content comes after the ID of its sealing and a byte that marks the last one.
const (
	sealingIDSize = 16
	pieceHead     = sealingIDSize + 1
)

// SealPieces seals what r has, of any length, as pieces with the numbers 0, 1, 2 and so on, and
// passes each to put, which may keep it. Something empty is one piece. When it fails, put has
// had pieces that don't open as a whole; they are of no use.
func (s *Sealer) SealPieces(ctx context.Context, org uuid.UUID, kind Kind, name string, r io.Reader,
	put func(index int, sealed []byte) error) error {
	var id [sealingIDSize]byte
	_, _ = rand.Read(id[:]) // never fails
	source, plain := bufio.NewReader(r), &bytes.Buffer{}
	for index := 0; ; index++ {
		plain.Reset()
		plain.Write(append(id[:], 0)) // the mark is set when it is known
		if _, err := io.Copy(plain, io.LimitReader(source, PieceBytes)); err != nil {
			return err
		}
		last, err := ended(source)
		if err != nil {
			return err
		}
		plain.Bytes()[sealingIDSize] = last
		sealed, err := s.seal(ctx, place{org, onePiece, uint64(index), kind, name}, plain.Bytes())
		if err != nil {
			return err
		}
		if err := put(index, sealed); err != nil {
			return fmt.Errorf("put piece %d: %w", index, err)
		}
		if last == 1 {
			return nil
		}
	}
}

// ended is 1 if nothing more can be read.
func ended(source *bufio.Reader) (byte, error) {
	_, err := source.Peek(1)
	if errors.Is(err, io.EOF) {
		return 1, nil
	}
	return 0, err
}

// OpenPieces returns what SealPieces sealed. get returns the piece of a number, and
// fs.ErrNotExist if there is none. Nothing is read that was not found to be as it was sealed;
// pieces that are missing, in another order, or of another sealing are a fault of the code
// SealCorrupt. So only who has read to io.EOF has read everything.
func (s *Sealer) OpenPieces(ctx context.Context, org uuid.UUID, kind Kind, name string,
	get func(index int) ([]byte, error)) io.Reader {
	return &pieceReader{sealer: s, ctx: ctx, place: place{org: org, what: onePiece, kind: kind, name: name}, get: get}
}

type pieceReader struct {
	sealer  *Sealer
	ctx     context.Context
	place   place // of the next piece
	get     func(index int) ([]byte, error)
	sealing []byte // the ID of the first piece
	rest    []byte // of the piece that is being read
	err     error  // when rest is read
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.rest, r.err = r.next()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next returns the next piece's content, with io.EOF if it is the last one's.
func (r *pieceReader) next() ([]byte, error) {
	index := r.place.index
	sealed, err := r.get(int(index))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(err, fault.SealCorrupt, "piece %d of what is kept of the %s is not there", index, r.place.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("get piece %d: %w", index, err)
	}
	plain, err := r.sealer.open(r.ctx, r.place, sealed)
	if err != nil {
		return nil, err
	}
	if len(plain) < pieceHead || r.sealing != nil && !bytes.Equal(plain[:sealingIDSize], r.sealing) {
		return nil, fault.New(fault.SealCorrupt, "piece %d of what is kept of the %s does not belong to those before it",
			index, r.place.kind)
	}
	r.sealing = plain[:sealingIDSize]
	r.place.index++
	if plain[sealingIDSize] == 1 {
		return plain[pieceHead:], io.EOF
	}
	return plain[pieceHead:], nil
}
