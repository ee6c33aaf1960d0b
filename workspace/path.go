package workspace

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
)

// maxPath is how long a file's path may be, in bytes; maxSegment each name in it.
const (
	maxPath    = 1024
	maxSegment = 255
)

// CheckPath refuses a path that is no file's within a folder, on any system.
func CheckPath(p string) error {
	switch {
	case p == "":
		return errPath(p, "it is empty")
	case len(p) > maxPath:
		return errPath(p[:maxPath], "it is longer than 1,024 bytes")
	case !utf8.ValidString(p):
		return errPath(p, "it is not in UTF-8")
	case strings.HasPrefix(p, "/"):
		return errPath(p, "it is absolute")
	case strings.ContainsRune(p, '\\'):
		return errPath(p, `it has a "\", which is no "/" everywhere`)
	case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return errPath(p, "it has a character that can't be shown")
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return errPath(p, `a name in it is empty, "." or ".."`)
		}
		if len(segment) > maxSegment {
			return errPath(p, "a name in it is longer than 255 bytes")
		}
		if why := otherOnWindows(segment); why != "" {
			return errPath(p, why)
		}
	}
	return checkOurs(p)
}

// otherOnWindows says why Windows takes a name for that of another file, or of a device; empty if it doesn't.
func otherOnWindows(name string) string {
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return `a name in it ends with "." or a space, which Windows leaves out`
	}
	if strings.Contains(name, ":") {
		return `a name in it has a ":", which stands before a stream of a file in Windows`
	}
	device, _, _ := strings.Cut(strings.ToUpper(name), ".")
	device = strings.TrimRight(device, " ")
	switch device {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return "a name in it is that of a device in Windows"
	}
	if number, is := strings.CutPrefix(device, "COM"); is && isDeviceNumber(number) {
		return "a name in it is that of a device in Windows"
	}
	if number, is := strings.CutPrefix(device, "LPT"); is && isDeviceNumber(number) {
		return "a name in it is that of a device in Windows"
	}
	return ""
}

func isDeviceNumber(text string) bool {
	return strings.ContainsAny(text, "0123456789¹²³") && utf8.RuneCountInString(text) == 1
}

// checkOurs refuses what is the executor's own, or the tool's.
func checkOurs(p string) error {
	for segment := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(segment, ".terraform") {
			return errPath(p, "it is in .terraform, which init makes anew for each run")
		}
	}
	base := strings.ToLower(path.Base(p))
	if strings.HasPrefix(base, "holdfast_backend") && strings.Contains(base, ".tf") {
		return errPath(p, "files that begin with holdfast_backend are the server's own")
	}
	return nil
}

func errPath(p, why string) error {
	return fault.New(fault.FilePathInvalid, "the path %.200q can't be used: %s", p, why)
}

// isText reports whether the tools read a file as text.
func isText(p string) bool {
	for _, suffix := range []string{".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json", ".hcl",
		".tftest.hcl", ".tofutest.hcl"} {
		if strings.HasSuffix(p, suffix) {
			return true
		}
	}
	return false
}
