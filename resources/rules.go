package resources

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/inventory"
)

//go:embed identity.json
var builtIn []byte

// Rules say what tells that two resources are the same real object. They never change
// after they were read.
//
// Values are compared within one family of providers, one type and one attribute, those of
// Everywhere within the family and the attribute. Nothing else is taken for the same.
type Rules struct {
	// Families names the providers of each.
	Families map[string][]string `json:"families"`
	// IgnoreCase lists families that don't tell capitals from small letters in IDs.
	IgnoreCase []string `json:"ignore_case"`
	// Virtual are families whose resources stand for no real object.
	Virtual []string `json:"virtual"`
	// LocalIDs are families whose IDs mean something in one cluster or server only, so that
	// two objects may well have the same.
	LocalIDs []string `json:"local_ids"`
	// Everywhere are attributes that tell an object among all types of its family.
	Everywhere []string `json:"everywhere"`
	// Identity are the attributes that tell an object among those of its type, the surest
	// first, where its own rule doesn't say. The first that a resource has is its identity.
	Identity []string `json:"identity"`
	// Name is the attribute that tells an object as long as no other has the same.
	Name string `json:"name"`
	// Secret are what the names of attributes and tags have in them that no index keeps of
	// uploads, in any case and with any signs between: uploads have no marks of what is
	// sensitive, as states do.
	Secret []string `json:"secret"`
	// Types has rules for types, by family.
	Types map[string]map[string]TypeRule `json:"types"`
	// About is for people.
	About string `json:"about"`

	families map[string]string              // of each provider
	uploads  map[string]map[string][]string // types by what uploads call them, by family
	secret   inventory.SecretNames
}

// TypeRule is what is particular to a type.
type TypeRule struct {
	// Is names the type that this one is another name of.
	Is string `json:"is"`
	// Identity are the attributes that tell an object of the type; an empty list says that
	// none does, because it is no object of its own.
	Identity *[]string `json:"identity"`
	// Uploads is what uploads call the type.
	Uploads []string `json:"uploads"`
}

// DefaultRules returns the rules that come with the program.
func DefaultRules() (*Rules, error) { return ReadRules(nil) }

// ReadRules returns the rules that come with the program, changed by those that a file
// has; nil for no file. Families and types of the file come in the place of those with the
// same name; its other members in the place of ours.
func ReadRules(file []byte) (*Rules, error) {
	r := &Rules{}
	if err := r.read(builtIn); err != nil {
		return nil, err
	}
	if file != nil {
		if err := r.read(file); err != nil {
			return nil, err
		}
	}
	var err error
	if r.secret, err = inventory.NewSecretNames(r.Secret); err != nil {
		return nil, fmt.Errorf("the identity rules' secret: %w", err)
	}
	r.families, r.uploads = map[string]string{}, map[string]map[string][]string{}
	for family, providers := range r.Families {
		for _, provider := range providers {
			r.families[provider] = family
		}
	}
	for family, types := range r.Types {
		r.uploads[family] = map[string][]string{}
		for _, name := range slices.Sorted(maps.Keys(types)) {
			for _, called := range types[name].Uploads {
				r.uploads[family][called] = append(r.uploads[family][called], r.canonical(family, name))
			}
		}
	}
	return r, nil
}

// SecretNames are the names of secrets in uploads, of which no index keeps the values.
func (r *Rules) SecretNames() inventory.SecretNames { return r.secret }

// read puts the members of a file over what is there; types go in one by one.
func (r *Rules) read(file []byte) error {
	before := r.Types
	r.Types = nil
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return fmt.Errorf("the identity rules can't be read: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("the identity rules are followed by something else")
	}
	for family, types := range before {
		merged := maps.Clone(types)
		maps.Copy(merged, r.Types[family])
		if r.Types == nil {
			r.Types = map[string]map[string]TypeRule{}
		}
		r.Types[family] = merged
	}
	return nil
}

// family is of a provider; one that no family names is a family of its own.
func (r *Rules) family(provider string) string {
	provider = strings.ToLower(provider)
	if family, ok := r.families[provider]; ok {
		return family
	}
	return provider
}

func (r *Rules) canonical(family, name string) string {
	if is := r.Types[family][name].Is; is != "" {
		return is
	}
	return name
}

func (r *Rules) identity(family, name string) []string {
	if own := r.Types[family][name].Identity; own != nil {
		return *own
	}
	if own := r.Types[family][r.canonical(family, name)].Identity; own != nil {
		return *own
	}
	return r.Identity
}

// reported are the types that an upload's type may stand for.
func (r *Rules) reported(family, provider, called string) []string {
	if known := r.uploads[family][called]; known != nil {
		return known
	}
	own := []string{r.canonical(family, called)}
	if !strings.HasPrefix(called, provider+"_") {
		own = append(own, r.canonical(family, provider+"_"+called))
	}
	return own
}
