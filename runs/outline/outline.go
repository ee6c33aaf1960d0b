// Package outline sums up what a plan does to which resource, so that two descriptions of one plan
// can be held against each other: the plan file, which an apply follows, and the JSON that show
// makes of it, which people read. Both come from where the plan was made, and nobody says that they
// belong together; if their outlines are the same, they name the same changes.
package outline

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Change is one change of a plan, without its values.
type Change struct {
	Address  string
	Previous string // address before it was moved; empty if it was not
	Deposed  string
	Actions  string // as in the JSON, joined by commas: create; delete,create
	Import   bool
}

// Set is the changes of a plan, in whatever order. Its zero value is ready to use.
type Set struct{ sums [][sha256.Size]byte }

// Add adds a change. What the JSON leaves out counts on neither side: the deletion of a data
// source's entry in the state, and what is ephemeral.
func (s *Set) Add(c Change) {
	switch mode := modeOf(c.Address); {
	case mode == "ephemeral" || mode == "data" && c.Actions == "delete":
		return
	}
	imported := ""
	if c.Import {
		imported = "import"
	}
	var b []byte
	for _, text := range []string{c.Address, c.Previous, c.Deposed, c.Actions, imported} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	s.sums = append(s.sums, sha256.Sum256(b))
}

// Len is how many changes there are.
func (s *Set) Len() int { return len(s.sums) }

// Sum is the same for the same changes.
func (s *Set) Sum() [sha256.Size]byte {
	sums := slices.Clone(s.sums)
	slices.SortFunc(sums, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	hash := sha256.New()
	for _, sum := range sums {
		hash.Write(sum[:])
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// modeOf is data, ephemeral or managed, by the word behind the modules of an address, such as
// module.a["x"].data.t.n.
func modeOf(address string) string {
	for strings.HasPrefix(address, "module.") {
		rest, ok := behindModule(address[len("module."):])
		if !ok {
			return "managed"
		}
		address = rest
	}
	word, _, _ := strings.Cut(address, ".")
	switch word {
	case "data", "ephemeral":
		return word
	}
	return "managed"
}

// behindModule passes over a module's name and key, whose text may have dots and brackets.
func behindModule(rest string) (string, bool) {
	quoted, open := false, false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[':
			open = true
		case c == ']':
			open = false
		case c == '.' && !open:
			return rest[i+1:], true
		}
	}
	return "", false
}
