package shim

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// fakeFile is a file on a disk with so much room left.
type fakeFile struct {
	text []byte
	room int
}

func (f *fakeFile) WriteAt(p []byte, offset int64) (n int, err error) {
	if int(offset) != len(f.text) {
		return 0, fmt.Errorf("a write at %d of %d", offset, len(f.text))
	}
	n = min(len(p), f.room)
	f.text, f.room = append(f.text, p[:n]...), f.room-n
	if n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f *fakeFile) Sync() error  { return nil }
func (f *fakeFile) Close() error { return nil }

func TestSpoolWaitsForRoom(t *testing.T) {
	f := &fakeFile{room: 10}
	s := newSpool(f, 0, 1<<20)
	s.write([]byte("0123456789abcdef"))
	s.write([]byte("ghi"))
	s.retry()
	if got := string(f.text); got != "0123456789" {
		t.Errorf("a full disk has %q", got)
	}
	f.room = 4
	s.retry()
	s.write([]byte("jkl"))
	f.room = 1 << 20
	s.retry()
	s.write([]byte("m"))
	if size, lost := s.end(); string(f.text) != "0123456789abcdefghijklm" || size != 23 || lost != 0 {
		t.Errorf("in the end there is %q, %d bytes, %d lost", f.text, size, lost)
	}
}

func TestSpoolSaysWhatAFullDiskCost(t *testing.T) {
	f := &fakeFile{room: 3}
	s := newSpool(f, 0, 400)
	s.hold = 4
	s.write([]byte("abc"))
	s.write([]byte("0123456789"))
	f.room = 1 << 20
	s.retry()
	s.write([]byte("xyz"))
	const want = "abc\n[holdfast: 6 bytes of output are missing here]\n6789xyz"
	if size, lost := s.end(); string(f.text) != want || size != int64(len(want)) || lost != 6 {
		t.Errorf("in the end there is %q, %d bytes, %d lost", f.text, size, lost)
	}
}

// Beyond the limit the middle is left out: how a command ends matters as much as how it
// begins.
func TestSpoolKeepsBothEnds(t *testing.T) {
	f := &fakeFile{room: 1 << 20}
	s := newSpool(f, 0, 400)
	for range 1000 {
		s.write([]byte("0123456789"))
	}
	s.write([]byte("the end"))
	size, lost := s.end()
	text := string(f.text)
	if !strings.HasPrefix(text, strings.Repeat("0123456789", 30)+"\n[holdfast: ") ||
		!strings.HasSuffix(text, "0123456789the end") {
		t.Errorf("there is %q", text)
	}
	if size > 400+lineRoom || lost != 1000*10+7-400 {
		t.Errorf("there are %d bytes, %d lost", size, lost)
	}
}

// Whatever the disk does, what is in the file is what was written, in its order, with lines
// that count what is missing.
func TestSpoolAccountsForEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fakeFile{}
		s := newSpool(f, 0, rapid.Int64Range(64, 2000).Draw(t, "limit"))
		written := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				n := rapid.IntRange(0, 100).Draw(t, "bytes")
				s.write(bytes.Repeat([]byte("x"), n))
				written += int64(n)
			case 1:
				f.room = rapid.IntRange(0, 300).Draw(t, "room")
			case 2:
				s.retry()
			}
		}
		f.room = rapid.SampledFrom([]int{0, 30, 1 << 20}).Draw(t, "room in the end")
		size, lost := s.end()
		if got := int64(bytes.Count(f.text, []byte("x"))); got+lost != written || size != int64(len(f.text)) {
			t.Fatalf("%d bytes were written, %d are there, %d counted as lost, in a file of %d said to be %d", written, got,
				lost, len(f.text), size)
		}
	})
}
