package csv

import (
	"context"
	"hash/crc32"
	"io"

	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// page is how many segments are asked of the index at a time.
const page = 64

// verify compares the whole file with what the index says of it. It needs the gate, and
// head and last to be set.
func (t *tenant) verify(ctx context.Context, now stamp) error {
	f := piecewise{ctx, t, t.head.Base}
	if err := t.verifyHeader(ctx); err != nil {
		return err
	}
	for offset := int64(0); ; {
		segments, err := t.store.index.From(ctx, t.head.ID, offset, index.Range{}, page)
		if err != nil {
			return err
		}
		for _, s := range segments {
			if err := t.verifySegment(ctx, f, s); err != nil {
				return err
			}
			offset = s.End()
		}
		if len(segments) < page {
			break
		}
	}
	if now.size > t.head.Size() {
		return t.bad(t.head.Place(t.head.Line), "somebody appended to the file")
	}
	t.trust(now)
	return nil
}

// trust records that the file is whole, so that the next start need not read it again.
// Nothing but time is lost if that fails: a full disk is no reason not to read.
func (t *tenant) trust(now stamp) {
	if t.head.Seal == now.seal {
		return
	}
	t.head.Seal = now.seal
	if err := t.store.index.SetSeal(t.org, t.head.ID, now.seal); err != nil {
		t.store.log.Warn("verified upload file not noted", "org", t.org, "err", err)
	}
}

// verifyHeader compares the first row, which ends where the first segment begins.
func (t *tenant) verifyHeader(ctx context.Context) error {
	end := t.head.Length
	if end == 0 {
		return nil
	}
	first, err := t.store.index.From(ctx, t.head.ID, 0, index.Range{}, 1)
	if err != nil {
		return err
	}
	for _, s := range first {
		end = s.Start
	}
	r := csvrow.NewReader(io.NewSectionReader(piecewise{ctx, t, 0}, 0, t.head.Size()), 0, 1)
	if err := r.Next(); err != nil {
		return t.badRow(r, err)
	}
	if offset, _ := r.End(); !csvrow.IsHeader(&r.Row) || offset != end-t.head.Base {
		return t.bad(1, "it is not the header that was written")
	}
	return nil
}

func (t *tenant) verifySegment(ctx context.Context, f io.ReaderAt, s index.Segment) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	same, err := t.matches(f, s.Start, s.Length, s.CRC)
	if err != nil {
		return err
	}
	if same {
		return nil
	}
	return t.diagnose(ctx, f, s)
}

// matches reports whether the bytes have the checksum. A file that ends before them
// does not.
func (t *tenant) matches(f io.ReaderAt, offset, length int64, crc uint32) (bool, error) {
	buffer := t.store.buffers.acquire(int(min(length, segmentSize)))
	defer t.store.buffers.release(buffer)
	sum := crc32.New(castagnoli())
	n, err := io.CopyBuffer(sum, io.NewSectionReader(f, offset, length), buffer[:cap(buffer)])
	return err == nil && n == length && sum.Sum32() == crc, err
}
