package gitmirror

import "strings"

const maxRef = 255

// CheckBranch refuses what git wouldn't have as a branch's name.
func CheckBranch(name string) error {
	if strings.Contains(name, "*") || !isRefName(name) {
		return newError(AddressInvalid, "%.100q can't be a branch's name", name)
	}
	return nil
}

// CheckPattern refuses what is neither a branch's name nor one with a single * in it.
func CheckPattern(pattern string) error {
	if strings.Count(pattern, "*") > 1 || !isRefName(strings.Replace(pattern, "*", "x", 1)) {
		return newError(AddressInvalid, "%.100q can't be a pattern of branches: it is a name, with at most one *", pattern)
	}
	return nil
}

// isRefName holds the rules of git check-ref-format.
func isRefName(name string) bool {
	if name == "" || len(name) > maxRef || name == "@" || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		name[0] == '-' || strings.HasSuffix(name, ".") {
		return false
	}
	if strings.ContainsFunc(name, isNoRefRune) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// IsCommit says whether a text is the whole hash of a commit, as every method here wants it.
func IsCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) &&
		!strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

func checkCommits(commits ...string) error {
	for _, c := range commits {
		if !IsCommit(c) {
			return newError(AddressInvalid, "%.80q is not the hash of a commit", c)
		}
	}
	return nil
}

func isNoRefRune(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) }
