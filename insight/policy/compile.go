package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/rules"
)

// The names of files that are no policies.
const (
	WaiversFile = "waivers.yaml"
	PricesFile  = "prices.csv"
)

// Compiled is what a bundle has. It never changes.
type Compiled struct {
	Set     *rules.Set // nil where the bundle has no policies
	Waivers Waivers
	Prices  *cost.Sheet // nil where it has none
}

// limits are those of rules that an organization brings: the process has others to serve.
func limits() rules.Limits { return rules.Limits{Bytes: 512 << 20} }

// Compile reads a bundle's files. The fault is a PolicyInvalid, whose details have a file and a line
// each where these are known.
func Compile(files []File) (*Compiled, error) {
	if err := checkFiles(files); err != nil {
		return nil, err
	}
	made, sources := &Compiled{}, map[string]string{}
	for _, f := range files {
		switch {
		case path.Ext(f.Path) == ".rego":
			sources[f.Path] = f.Content
		case f.Path == WaiversFile:
			waivers, err := ReadWaivers(strings.NewReader(f.Content))
			if err != nil {
				return nil, invalid(WaiversFile, err)
			}
			made.Waivers = waivers
		case f.Path == PricesFile:
			sheet, err := cost.Read(strings.NewReader(f.Content))
			if err != nil {
				return nil, invalid(PricesFile, err)
			}
			made.Prices = sheet
		}
	}
	if len(sources) == 0 {
		return made, nil
	}
	set, err := rules.CompileSources(sources, limits())
	if err != nil {
		return nil, invalid("", err)
	}
	made.Set = set
	return made, nil
}

func checkFiles(files []File) error {
	refuse := func(format string, args ...any) error { return fault.New(fault.PolicyInvalid, format, args...) }
	if len(files) == 0 || len(files) > MaxFiles {
		return refuse("a bundle has 1 to %d files", MaxFiles)
	}
	bytes, known := 0, map[string]bool{}
	for _, f := range files {
		bytes += len(f.Content)
		switch {
		case !fs.ValidPath(f.Path) || len(f.Path) > maxPath || strings.ContainsAny(f.Path, "\\\x00\n\r"):
			return refuse("a file's path is relative, at most %d bytes long, without . and .. in it", maxPath)
		case known[f.Path]:
			return refuse("the file %s comes twice", f.Path)
		case !utf8.ValidString(f.Content):
			return refuse("the file %s is not UTF-8", f.Path)
		case path.Ext(f.Path) != ".rego" && f.Path != WaiversFile && f.Path != PricesFile:
			return refuse("the file %s is neither .rego, nor %s or %s", f.Path, WaiversFile, PricesFile)
		}
		known[f.Path] = true
	}
	if bytes > MaxBytes {
		return refuse("the files have more than %d bytes", MaxBytes)
	}
	return nil
}

// maxTold is how many faults are told of a bundle.
const maxTold = 20

// invalid is the fault of files that can't be read, with where.
func invalid(file string, err error) error {
	f := fault.Wrap(err, fault.PolicyInvalid, "the bundle was not taken: %s", told(err))
	for _, one := range parts(err) {
		if bad, ok := errors.AsType[*ast.Error](one); ok && bad.Location != nil {
			f.Details = append(f.Details, fault.Detail{Pointer: at(bad.Location.File, bad.Location.Row), Rule: bad.Message})
		} else if file != "" {
			f.Details = append(f.Details, fault.Detail{Pointer: file, Rule: one.Error()})
		}
		if len(f.Details) >= maxTold {
			break
		}
	}
	return f
}

func at(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// told is the first of several errors.
func told(err error) string {
	all := parts(err)
	text := all[0].Error()
	if len(all) > 1 {
		text += fmt.Sprintf(", and %d more", len(all)-1)
	}
	return text
}

// parts takes an error apart.
func parts(err error) (all []error) {
	if list, ok := errors.AsType[ast.Errors](err); ok {
		for _, one := range list {
			all = append(all, one)
		}
		return all
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			all = append(all, parts(one)...)
		}
		return all
	}
	return []error{err}
}

// DigestOf is the SHA-256 of a bundle's files with their paths, whatever their order.
func DigestOf(files []File) string {
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	sum := sha256.New()
	for _, f := range sorted {
		fmt.Fprintf(sum, "%d %s %d ", len(f.Path), f.Path, len(f.Content))
		sum.Write([]byte(f.Content))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
