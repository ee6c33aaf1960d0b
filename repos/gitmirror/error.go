package gitmirror

import (
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/internal/printable"
)

// Kind is what went wrong.
type Kind string

// The kinds of errors.
const (
	Failed         Kind = "failed"          // git says something that is not known here
	AddressInvalid Kind = "address_invalid" // the URL or a name can't be one
	AddressRefused Kind = "address_refused" // the host is in a private network
	Unreachable    Kind = "unreachable"     // nobody answers, or not in the way git does
	LoginRefused   Kind = "login_refused"   // the credentials are missing, wrong or not enough
	HostUnknown    Kind = "host_key"        // the host's key is none of those that are pinned
	NotThere       Kind = "not_there"       // no repository, branch, commit or path of this name
	TooLarge       Kind = "too_large"       // beyond one of the limits
	TooSlow        Kind = "too_slow"        // beyond the deadline
	Hostile        Kind = "hostile"         // objects or links that nobody makes by mistake
	Busy           Kind = "busy"            // another process fetches into the mirror
	NoGit          Kind = "no_git"          // there is no git binary that can be used
)

// Error says what went wrong. Its text has no secrets, and is printable.
type Error struct {
	Kind Kind
	Text string
	// Missing is the branch that the remote does not have, where that is why.
	Missing string
	err     error
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Unwrap returns what is behind it.
func (e *Error) Unwrap() error { return e.err }

// KindOf returns what kind of error it is; empty where it is none of this package's.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

func newError(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// maxSaid is how much of what git says is kept.
const maxSaid = 400

// explain makes an error of what git wrote when a command failed. The texts are those of LC_ALL=C.
func explain(said string) *Error {
	low := strings.ToLower(said)
	kind := Failed
	for _, known := range phrases() {
		if strings.Contains(low, known.text) {
			kind = known.kind
			break
		}
	}
	if kind == HostUnknown { // ssh's own words are a page, or say as little as possible
		return newError(kind, "the host shows a key that is none of its known hosts: compare it with what is published "+
			"of the host, and give its known hosts anew if it is the host's")
	}
	return newError(kind, "git: %s", shorten(said))
}

type phrase struct {
	text string
	kind Kind
}

// phrases are looked for in this order: what comes first says more.
func phrases() []phrase {
	return []phrase{
		{"host key verification failed", HostUnknown},
		{"remote host identification has changed", HostUnknown},
		{"permission denied (", LoginRefused},
		{"authentication failed", LoginRefused},
		{"could not read username", LoginRefused},
		{"could not read password", LoginRefused},
		{"returned error: 401", LoginRefused},
		{"returned error: 403", LoginRefused},
		{"couldn't find remote ref", NotThere},
		{"repository not found", NotThere},
		{"returned error: 404", NotThere},
		{"' not found", NotThere},
		{"does not appear to be a git repository", NotThere},
		{"file too large", TooLarge},
		{"file size limit exceeded", TooLarge},
		{"signal 25", TooLarge}, // SIGXFSZ
		{"out of memory", TooLarge},
		{"malloc failed", TooLarge},
		{"fsck error", Hostile},
		{"could not resolve host", Unreachable},
		{"unable to access", Unreachable},
		{"connection", Unreachable},
		{"operation too slow", Unreachable},
		{"timed out", Unreachable},
		{"no route to host", Unreachable},
		{"not valid: is this a git repository", NotThere},
		{"early eof", Unreachable},
		{"hung up", Unreachable},
	}
}

// shorten makes one printable line of what git said, without the words that begin each line.
func shorten(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		if line != "" {
			lines = append(lines, line)
		}
	}
	text := printable.Text(strings.Join(lines, "; "))
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	if text == "" {
		text = "it failed and said nothing"
	}
	return text
}
