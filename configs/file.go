package configs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/ini.v1"
)

// fileReader goes through an INI file line by line. ini.v1 parses each line; giving it
// the whole file would stop at the first broken line, put values of broken lines into
// the error, and silently keep the last of several keys with the same name.
type fileReader struct {
	path     string
	settings []setting
	faults   *Faults
	section  string // the section that the line stands in; empty before the first
	skip     bool   // the section is broken or unknown, so its keys mean nothing
	first    map[string]int
	found    []value
}

// byteOrderMark is what some editors put at the start of a file, which may since have become
// a line in the middle of another one. It is passed over: ini.v1 would do that too, and drop
// the section behind it.
const byteOrderMark = "\ufeff"

// readFile returns the values that an INI file sets, in the file's order.
func readFile(path string, data []byte, settings []setting, faults *Faults) []value {
	r := &fileReader{path: path, settings: settings, faults: faults, first: map[string]int{}}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		faults.add(path, "the file is UTF-16; save it as UTF-8")
		return nil
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		r.line(number, bytes.TrimPrefix(line, []byte(byteOrderMark)))
	}
	return r.found
}

func (r *fileReader) line(number int, line []byte) {
	if header, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("[")); ok {
		r.header(fmt.Sprintf("%s: line %d", r.path, number), header)
		return
	}
	parsed, err := ini.LoadSources(ini.LoadOptions{
		IgnoreContinuation:        true,
		KeyValueDelimiters:        "=",
		SpaceBeforeInlineComment:  true, // a password may contain # and ;
		UnescapeValueDoubleQuotes: true,
	}, line)
	if err != nil {
		// ini.v1's error quotes the line, which may hold a password.
		r.faults.add(fmt.Sprintf("%s: line %d", r.path, number),
			"not a key = value: there must be a key and a =, and a quote must be closed on its line")
		return
	}
	for _, key := range parsed.Section("").Keys() {
		r.key(number, line, key)
	}
}

// header takes what follows a line's opening bracket. It is not left to ini.v1, which
// drops whatever stands behind the closing one: "[server] port = 80" would set nothing.
func (r *fileReader) header(place string, line []byte) {
	section, rest, closed := bytes.Cut(line, []byte("]"))
	rest = bytes.TrimSpace(rest)
	if !closed || len(rest) > 0 && !startsAsComment(rest) {
		r.skip = true
		r.faults.add(place, "not a section: expected [name] alone on its line")
		return
	}
	r.enter(place, string(bytes.TrimSpace(section)))
}

func (r *fileReader) enter(place, section string) {
	r.section = section
	r.skip = !slices.ContainsFunc(r.settings, func(s setting) bool { return s.section == section })
	if r.skip {
		r.faults.add(place, "unknown section %q", section)
	}
}

func (r *fileReader) key(number int, line []byte, key *ini.Key) {
	if r.skip {
		return
	}
	if r.section == "" {
		r.faults.add(fmt.Sprintf("%s: line %d", r.path, number), "key %q stands before the first section", key.Name())
		return
	}
	i := slices.IndexFunc(r.settings, func(s setting) bool {
		return s.section == r.section && s.key == key.Name()
	})
	place := fmt.Sprintf("%s: [%s] %s", r.path, r.section, key.Name())
	switch {
	case i < 0:
		r.faults.add(place, "unknown key in line %d; the section has %s", number, r.keys())
	case r.first[place] > 0:
		r.faults.add(place, "set twice, in lines %d and %d", r.first[place], number)
	case valueIsComment(line):
		r.faults.add(place, "the value starts like a comment; put it in double quotes, or leave nothing after the =")
	default:
		r.first[place] = number
		r.found = append(r.found, value{r.settings[i], key.Value(), place, "file " + r.path})
	}
}

// valueIsComment reports whether the value begins with # or ;. ini.v1 would take
// "password = # see the vault" at its word.
func valueIsComment(line []byte) bool {
	_, text, _ := bytes.Cut(line, []byte("="))
	return startsAsComment(bytes.TrimSpace(text))
}

func startsAsComment(text []byte) bool {
	return len(text) > 0 && (text[0] == '#' || text[0] == ';')
}

// keys lists what the present section may have.
func (r *fileReader) keys() string {
	var keys []string
	for _, s := range r.settings {
		if s.section == r.section {
			keys = append(keys, s.key)
		}
	}
	return strings.Join(keys, ", ")
}
