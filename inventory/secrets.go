package inventory

import (
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// SecretPolicy is what becomes of attributes that are secrets by their names.
type SecretPolicy string

// The policies.
const (
	AcceptSecrets SecretPolicy = "accept" // they are kept like any other
	MaskSecrets   SecretPolicy = "mask"   // Masked is kept in their place
	RefuseSecrets SecretPolicy = "refuse" // the upload is refused
)

// Masked is what is kept in the place of a secret, as JSON.
const Masked = `"(masked)"`

// Secrets says what becomes of which attributes. The zero value accepts all.
type Secrets struct {
	Policy SecretPolicy
	Names  SecretNames
}

// span is a part of an upload's body.
type span struct{ start, end int }

// secretFinder finds the texts and numbers of secrets while the attributes of a resource go by: those of a name
// that is one, and everything in a list or an object of such a name.
type secretFinder struct {
	Secrets
	known map[string]bool // names that have gone by: mostly, each resource has the same
	under int             // how many steps lead to the list or object whose name is a secret's; 0 for none
	first int             // of what was found: what is in that list or object begins here
	found []span          // in the attributes that go by
	count int             // in all
}

// mostInOne is how many secrets of a list or an object are masked one by one. One that has more is masked as a
// whole: a digit is a tenth of what masks it, and a list of millions would grow beyond what any store takes.
const mostInOne = 100

// mostKnown bounds the names that are remembered.
const mostKnown = 1000

// newSecretFinder returns nil where nothing is to be looked for.
func newSecretFinder(s Secrets) *secretFinder {
	if s.Policy != MaskSecrets && s.Policy != RefuseSecrets || len(s.Names.parts) == 0 {
		return nil
	}
	return &secretFinder{Secrets: s, known: map[string]bool{}}
}

// visit looks at one value in the attributes, and reports whether it is a secret that is refused.
func (f *secretFinder) visit(v *jsonscan.Value) (refused bool) {
	depth := v.Path.Len()
	switch v.Kind {
	case jsonscan.EndObject, jsonscan.EndArray:
		if depth == f.under {
			f.leave(v)
		}
	case jsonscan.BeginObject, jsonscan.BeginArray:
		if f.under == 0 && f.isSecret(v.Path.Name(depth-1)) {
			f.under, f.first = depth, len(f.found)
		}
	case jsonscan.String, jsonscan.Number:
		if string(v.Text) == `""` || f.under == 0 && !f.isSecret(v.Path.Name(depth-1)) {
			return false
		}
		f.add(v)
		return f.Policy == RefuseSecrets
	}
	return false
}

// add takes a secret. Of a list or an object it takes no more than show that it is masked as a whole.
func (f *secretFinder) add(v *jsonscan.Value) {
	f.count++
	if f.under == 0 || !f.manyInOne() {
		f.found = append(f.found, spanOf(v))
	}
}

// leave ends a list or an object whose name is a secret's.
func (f *secretFinder) leave(v *jsonscan.Value) {
	f.under = 0
	if f.manyInOne() {
		f.found = append(f.found[:f.first], spanOf(v))
	}
}

func (f *secretFinder) manyInOne() bool { return len(f.found)-f.first > mostInOne }

func spanOf(v *jsonscan.Value) span { return span{v.Start, v.Start + len(v.Text)} }

// isSecret says whether a name is one of a secret; nil is that of an element of a list.
func (f *secretFinder) isSecret(name []byte) bool {
	if name == nil {
		return false
	}
	is, ok := f.known[string(name)]
	if !ok {
		is = f.Names.Match(string(name))
		if len(f.known) < mostKnown {
			f.known[string(name)] = is
		}
	}
	return is
}

// mask returns the attributes, which begin at start of the body, without the secrets that were found in them,
// and forgets these.
func (f *secretFinder) mask(attributes []byte, start int) []byte {
	if len(f.found) == 0 {
		return attributes
	}
	masked := make([]byte, 0, len(attributes)+len(f.found)*len(Masked))
	from := 0
	for _, s := range f.found {
		masked = append(append(masked, attributes[from:s.start-start]...), Masked...)
		from = s.end - start
	}
	f.found = f.found[:0]
	return append(masked, attributes[from:]...)
}
