package seal

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/durable"
)

// Keeper wraps master keys with a key of its own, which never leaves it: Vault's or OpenBao's Transit, or a cloud's
// KMS. It is asked when a program reads its master keys and when these change, and never for what they seal. It is
// safe for concurrent use. Its errors tell nothing of keys.
type Keeper interface {
	// Name is a word for the file: what one keeper wrapped, no keeper of another name is asked about.
	Name() string
	// Wrap encrypts a few bytes. What it returns has no blanks and no line ends.
	Wrap(ctx context.Context, key []byte) (wrapped string, err error)
	// Unwrap decrypts what Wrap or Rewrap has returned.
	Unwrap(ctx context.Context, wrapped string) (key []byte, err error)
	// Rewrap encrypts with the keeper's newest key what it wrapped with whichever.
	Rewrap(ctx context.Context, wrapped string) (again string, err error)
}

// Source is where master keys are: a file, whose keys a Keeper may have wrapped, or a text.
type Source struct {
	Path   string // of the file
	Text   string // as a file has it, or keys alone with commas or blanks between them; then there is no file
	Keeper Keeper // nil for none
}

// ErrNoFile is of master keys that are in no file, and so can't be changed here.
var ErrNoFile = errors.New("the master keys are in the environment and not in a file: put a new one there, in front of " +
	"the others, start again, and have it wrap by --rewrap")

// String says where it is.
func (s Source) String() string {
	if s.Text != "" {
		return "the master keys of the environment"
	}
	return s.Path
}

// Read reads the master keys. It refuses a file that other accounts can read, and one that is damaged or of a format
// that it doesn't know. The Keeper is asked for each key that it has wrapped. Errors tell nothing of the keys; one of
// a file that is not there is fs.ErrNotExist.
func (s Source) Read(ctx context.Context) (*Master, error) {
	lines, _, err := s.lines()
	if err != nil {
		return nil, err
	}
	master := &Master{}
	for _, line := range lines {
		key, err := s.keyOf(ctx, line)
		if err == nil {
			err = master.add(key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", s, line.number, err)
		}
	}
	return master, nil
}

// Create makes the file with a new key, mode 0600, durably. It fails with fs.ErrExist when there is something at the
// path, and leaves that as it is.
func (s Source) Create(ctx context.Context) error {
	if s.Text != "" {
		return ErrNoFile
	}
	line, err := s.newLine(ctx)
	if err != nil {
		return err
	}
	text, err := fileText([]masterLine{line})
	if err != nil {
		return err
	}
	return durable.CreateNew(s.Path, text)
}

// Add makes a new key in the file, in front of those that are there: data keys are wrapped with it from then on, by
// who reads the file after that. Those that are there have to stay until Rewrap has been called for all organizations.
// With a Keeper all keys of the file are wrapped by its newest key then, also those that were in the clear. One caller
// at a time.
func (s Source) Add(ctx context.Context) error { return s.Change(ctx, true) }

// Renew wraps all keys of the file by the Keeper's newest key, if there is one, and adds none.
func (s Source) Renew(ctx context.Context) error { return s.Change(ctx, false) }

// Change is Add or, where no new key is wanted, Renew.
func (s Source) Change(ctx context.Context, add bool) error {
	switch {
	case s.Text != "" && add:
		return ErrNoFile
	case s.Text != "" || !add && s.Keeper == nil:
		_, _, err := s.lines()
		return err
	}
	return s.change(ctx, func(lines []masterLine) (changed []masterLine, err error) {
		for i := range lines {
			if lines[i], err = s.rewrapped(ctx, lines[i]); err != nil {
				return nil, fmt.Errorf("line %d: %w", lines[i].number, err)
			}
		}
		if !add {
			return lines, nil
		}
		line, err := s.newLine(ctx)
		return append([]masterLine{line}, lines...), err
	})
}

// change replaces the file with what alter makes of its lines, or leaves it as it is where that is nothing. One caller
// at a time does, of all processes. What a link leads to is replaced.
func (s Source) change(ctx context.Context, alter func([]masterLine) ([]masterLine, error)) error {
	target, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	var failed error
	err = durable.Locked(ctx, target, func() error {
		failed = s.changeAlone(target, alter)
		return nil
	})
	return cmp.Or(failed, changeable(err))
}

func (s Source) changeAlone(target string, alter func([]masterLine) ([]masterLine, error)) error {
	in := s
	in.Path = target
	lines, info, err := in.lines()
	if err != nil {
		return err
	}
	lines, err = alter(lines)
	if err != nil || lines == nil {
		return inSource(s, err)
	}
	text, err := fileText(lines)
	if err != nil {
		return inSource(s, err)
	}
	return changeable(durable.Replace(target, text, info))
}

// lockPatience is how long another command is waited for, which may ask a key service.
const lockPatience = time.Minute

// changeable has an error be ErrUnchangeable too, where it says that.
func changeable(err error) error {
	if unchangeable(err) {
		return fmt.Errorf("%w: %w", ErrUnchangeable, err)
	}
	return err
}

// lines reads what there is, as it is kept.
func (s Source) lines() (lines []masterLine, info fs.FileInfo, err error) {
	if s.Text != "" {
		lines, err = parseKeys(s.Text)
		return lines, nil, inSource(s, err)
	}
	text, info, err := readMasterText(s.Path)
	if err != nil {
		return nil, nil, err
	}
	lines, err = parseMaster(text)
	return lines, info, inSource(s, err)
}

func inSource(s Source, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// newLine makes a key, which the keeper wraps if there is one.
func (s Source) newLine(ctx context.Context) (masterLine, error) {
	return s.rewrapped(ctx, lineOf(newMasterKey(newKey())))
}

func (s Source) rewrapped(ctx context.Context, line masterLine) (masterLine, error) {
	if s.Keeper == nil {
		return line, nil
	}
	var err error
	if line.keeper == s.Keeper.Name() {
		line.wrapped, err = s.Keeper.Rewrap(ctx, line.wrapped)
	} else {
		var key [keySize]byte
		if key, err = s.unwrapped(ctx, line); err == nil {
			line.wrapped, err = s.Keeper.Wrap(ctx, key[:])
		}
	}
	if err == nil && (line.wrapped == "" || strings.ContainsAny(line.wrapped, " \t\r\n")) {
		err = errors.New("what it was wrapped to can't stand in a file")
	}
	line.keeper, line.key = s.Keeper.Name(), [keySize]byte{}
	if err == nil { // what can't be unwrapped must not take the place of what can
		_, err = s.unwrapped(ctx, line)
	}
	return line, err
}

// unwrapped returns a line's key, and compares it with its check digits.
func (s Source) unwrapped(ctx context.Context, line masterLine) ([keySize]byte, error) {
	if line.keeper == "" {
		return line.key, nil
	}
	if s.Keeper == nil || s.Keeper.Name() != line.keeper {
		return [keySize]byte{}, fmt.Errorf("the key is wrapped by %s, which seal.key_service does not name", line.keeper)
	}
	raw, err := s.Keeper.Unwrap(ctx, line.wrapped)
	switch {
	case err != nil:
		return [keySize]byte{}, err
	case len(raw) != keySize || checkOf([keySize]byte(raw), line.tree) != line.check:
		return [keySize]byte{}, fmt.Errorf("what %s unwraps is not the key that was wrapped", line.keeper)
	}
	return [keySize]byte(raw), nil
}

// parseKeys reads keys that are no file's, or the text of one.
func parseKeys(text string) ([]masterLine, error) {
	if strings.Contains(text, fileMark) {
		return parseMaster([]byte(strings.TrimRight(text, "\n") + "\n"))
	}
	var lines []masterLine
	for i, digits := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		raw, err := hex.DecodeString(digits)
		if err != nil || len(raw) != keySize {
			return nil, fmt.Errorf("key %d is not %d hexadecimal digits", i+1, 2*keySize)
		}
		key := [keySize]byte(raw)
		lines = append(lines, masterLine{number: i + 1, key: key, check: checkOf(key, "")})
	}
	if len(lines) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return lines, nil
}
