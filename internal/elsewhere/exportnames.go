package elsewhere

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// maxSegment is how long a segment of a file's path may be before it is cut.
const maxSegment = 120

// FilePaths returns under which path each of the names is kept in an export: the name, where that can be
// the path of a file on every system. No two have the same one, also where upper and lower case are one.
func FilePaths(names []string) map[string]string {
	lowered := map[string]int{}
	for _, name := range names {
		lowered[strings.ToLower(name)]++
	}
	paths := map[string]string{}
	for _, name := range names {
		segments := strings.Split(name, "/")
		for i, segment := range segments {
			segments[i] = filePath(segment, lowered[strings.ToLower(name)] > 1)
		}
		paths[name] = strings.Join(segments, "/")
	}
	return paths
}

// filePath is a segment with what no file may have in its name as %XX; upper case too, where asked for.
func filePath(segment string, upper bool) string {
	var out strings.Builder
	for i := range len(segment) {
		c := segment[i]
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '~' ||
			c >= 'A' && c <= 'Z' && !upper || c == '.' && i > 0 && i < len(segment)-1
		if plain && !(i == 0 && isReserved(segment)) && !endsAs(segment[i:]) {
			out.WriteByte(c)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", c)
	}
	text := out.String()
	if len(text) > maxSegment {
		sum := sha256.Sum256([]byte(segment))
		text = text[:maxSegment/2] + "%~" + hex.EncodeToString(sum[:16])
	}
	return text
}

// endsAs reports whether a name ends as files of an export do: a folder of that name would be in their place.
func endsAs(rest string) bool {
	return slices.Contains([]string{".tfstate", ".json", ".gz", ".log", ".csv", ".ndjson"}, strings.ToLower(rest))
}

// isReserved reports whether Windows has a device of that name, whatever its end.
func isReserved(segment string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(segment), ".")
	return slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, name) ||
		len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) &&
			name[3] >= '0' && name[3] <= '9'
}
