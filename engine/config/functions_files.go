package config

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func fileFunctions(base string) map[string]function.Function {
	path := []string{"path"}
	at := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(base, p)
	}
	read := func(p string) ([]byte, error) { return os.ReadFile(at(p)) }
	all := map[string]function.Function{
		"file": textual(path, func(a []string) (string, error) {
			text, err := read(a[0])
			if err == nil && !utf8.Valid(text) {
				err = fmt.Errorf("%s isn't UTF-8", a[0])
			}
			return string(text), err
		}),
		"filebase64": textual(path, func(a []string) (string, error) {
			text, err := read(a[0])
			return base64.StdEncoding.EncodeToString(text), err
		}),
		"fileexists": tested(path, func(a []string) bool {
			info, err := os.Stat(at(a[0]))
			return err == nil && info.Mode().IsRegular()
		}),
		"basename": textual(path, func(a []string) (string, error) { return filepath.Base(a[0]), nil }),
		"dirname":  textual(path, func(a []string) (string, error) { return filepath.Dir(a[0]), nil }),
		"abspath":  textual(path, func(a []string) (string, error) { return filepath.Abs(at(a[0])) }),
		"pathexpand": textual(path, func(a []string) (string, error) {
			rest, ok := strings.CutPrefix(a[0], "~")
			if !ok || rest != "" && rest[0] != '/' {
				return a[0], nil
			}
			home, err := os.UserHomeDir()
			return home + rest, err
		}),
		"fileset": fileSet(at),
	}
	for name, made := range hashes() {
		all["file"+name] = textual(path, func(a []string) (string, error) {
			text, err := read(a[0])
			return hex.EncodeToString(sum(made, string(text))), err
		})
		if name == "sha256" || name == "sha512" {
			all["filebase64"+name] = textual(path, func(a []string) (string, error) {
				text, err := read(a[0])
				return base64.StdEncoding.EncodeToString(sum(made, string(text))), err
			})
		}
	}
	return all
}

// fileSet lists the files in a folder that a pattern matches; ** stands for any number of folders.
func fileSet(at func(string) string) function.Function {
	return function.New(&function.Spec{Params: []function.Parameter{{Name: "path", Type: cty.String},
		{Name: "pattern", Type: cty.String}}, Type: function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			root, pattern := at(args[0].AsString()), strings.Split(args[1].AsString(), "/")
			var found []cty.Value
			err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				rel, err := filepath.Rel(root, p)
				if err == nil && matches(pattern, strings.Split(filepath.ToSlash(rel), "/")) {
					found = append(found, cty.StringVal(filepath.ToSlash(rel)))
				}
				return err
			})
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if len(found) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			return cty.SetVal(found), nil
		}})
}

func matches(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return matches(pattern[1:], path) || len(path) > 0 && matches(pattern, path[1:])
	case len(path) == 0:
		return false
	}
	ok, err := filepath.Match(pattern[0], path[0])
	return err == nil && ok && matches(pattern[1:], path[1:])
}
