package certs

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// maxFileSize bounds a file in bytes: some hundred authorities.
const maxFileSize = 1 << 20

// followed is what files say together, as of when they last made sense. One goroutine
// looks, any number read the value.
type followed[T any] struct {
	paths []string
	parse func(paths []string, texts [][]byte) (*T, error)
	value atomic.Pointer[T]

	seen  [sha256.Size]byte // what the last look has found
	acted [sha256.Size]byte // what was taken last, or refused
}

// open takes what the files say now.
func (f *followed[T]) open() error {
	now := f.read()
	f.seen, f.acted = now.digest, now.digest
	return f.take(now)
}

// look takes what the files say when it is new and was the same at the last look. It
// returns whether there is a new value, or why what is new was refused.
func (f *followed[T]) look() (changed bool, err error) {
	now := f.read()
	settled := now.digest == f.seen
	f.seen = now.digest
	if !settled || now.digest == f.acted {
		return false, nil
	}
	f.acted = now.digest
	if err := f.take(now); err != nil {
		return false, err
	}
	return true, nil
}

func (f *followed[T]) take(c content) error {
	if c.err != nil {
		return c.err
	}
	value, err := f.parse(f.paths, c.texts)
	if err == nil {
		f.value.Store(value)
	}
	return err
}

// content is what a look finds. A file that can't be read is a finding like any other.
type content struct {
	texts  [][]byte
	err    error
	digest [sha256.Size]byte // of all of it
}

func (f *followed[T]) read() content {
	var c content
	hash := sha256.New()
	for _, path := range f.paths {
		text, err := readFile(path)
		if err != nil {
			c.err = err
			fmt.Fprint(hash, err)
			break
		}
		fmt.Fprintln(hash, len(text)) // where one ends and the next begins
		hash.Write(text)
		c.texts = append(c.texts, text)
	}
	hash.Sum(c.digest[:0])
	return c
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = fmt.Errorf("%s: larger than %d KiB", path, maxFileSize>>10)
	}
	return text, err
}
