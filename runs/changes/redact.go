package changes

import (
	"crypto/sha256"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// known remembers which variables are sensitive, now that all of them are known.
func (h *hidden) known(sensitive map[string]bool) {
	h.options.Sensitive = slices.Sorted(maps.Keys(sensitive))
}

// redacter writes a plan's JSON again.
type redacter struct {
	everywhere *secrets
	sensitive  map[string]bool
	out        *jsontext.Encoder
}

// Redact writes the JSON that p was parsed from with every sensitive value Masked. r must give the
// same bytes as it gave Parse. What was written counts only if the error is nil.
func (p *Plan) Redact(w io.Writer, r io.Reader) error {
	// The first reading has refused a name that an object has twice.
	again := jsontext.AllowDuplicateNames(true)
	red := &redacter{everywhere: p.hidden.secrets, sensitive: map[string]bool{},
		out: jsontext.NewEncoder(w, again)}
	for _, name := range p.hidden.options.Sensitive {
		red.sensitive[name] = true
	}
	sum := sha256.New()
	if err := walk(io.TeeReader(r, sum), p.hidden.options.Limits, red, again); err != nil {
		return err
	}
	if [32]byte(sum.Sum(nil)) != p.hidden.source {
		return invalid("it is not the one that was read before")
	}
	return nil
}

func (r *redacter) takeToken(token jsontext.Token) error { return r.out.WriteToken(token) }

func (r *redacter) takeValue(kind kind, name string, value jsontext.Value) error {
	masked, err := r.mask(kind, name, value)
	if err != nil {
		return err
	}
	return r.out.WriteValue(masked)
}

func (r *redacter) mask(kind kind, name string, value jsontext.Value) (jsontext.Value, error) {
	m := masker{everywhere: r.everywhere}
	switch kind {
	case kindChange, kindDrift:
		return r.change(value)
	case kindOutputChange:
		x := &exact{}
		if err := x.parseChange(value); err != nil {
			return nil, err
		}
		return r.members(value, m, x.marks()), nil
	case kindVariable:
		return r.masked(value, m, r.sensitive[name]), nil
	case kindDeclaration, kindInnerVariable, kindOutput:
		return r.masked(value, m, string(member(value, "sensitive")) == "true"), nil
	case kindResource:
		marks := parseMarks(member(value, "sensitive_values"))
		m.here = newSecrets()
		marks.collectFrom(member(value, "values"), m.here.add)
		return r.members(value, m, marks), nil
	case kindProvider:
		return r.provider(value, m)
	case kindConfigResource:
		return rewrite(value, func(name string, text []byte) []byte { return r.plain(text, m, name) }), nil
	case kindHead, kindOther, kindMisplaced:
		return r.plain(value, m, name), nil
	}
	return nil, invalid("it has a value of an unknown kind")
}

func (r *redacter) change(value []byte) (jsontext.Value, error) {
	x, err := parseExact(value)
	if err != nil {
		return nil, err
	}
	m, marks := masker{everywhere: r.everywhere, here: newSecrets()}, x.marks()
	x.collect(m.here.add)
	return rewrite(value, func(name string, text []byte) []byte {
		if name == "change" {
			return r.members(text, m, marks)
		}
		return r.plain(text, m, name)
	}), nil
}

// members masks what has the values of a resource or an output, by the marks for before and after.
func (r *redacter) members(value []byte, m masker, marks *marks) []byte {
	return rewrite(value, func(name string, text []byte) []byte {
		switch name {
		case "before", "after", "values":
			return m.value(text, marks)
		}
		return r.plain(text, m, name)
	})
}

// masked masks the value and the default of a variable or an output.
func (r *redacter) masked(value []byte, m masker, sensitive bool) []byte {
	return rewrite(value, func(name string, text []byte) []byte {
		if sensitive && (name == "value" || name == "default") && string(text) != "null" {
			return []byte(Masked)
		}
		return r.plain(text, m, name)
	})
}

func (r *redacter) provider(value []byte, m masker) (jsontext.Value, error) {
	_, marks, err := credentials(value)
	return rewrite(value, func(name string, text []byte) []byte {
		if name == "expressions" {
			return m.value(text, marks)
		}
		return r.plain(text, m, name)
	}), err
}

// structural names members whose texts the tool makes of the configuration's names: addresses,
// types, versions. They stay whatever they look like, so that the JSON can be read.
func structural(name string) bool {
	switch name {
	case "address", "previous_address", "module_address", "mode", "type", "name", "provider_name", "deposed", "actions",
		"action_reason",
		"format_version", "terraform_version", "timestamp", "references", "provider_config_key", "full_name",
		"version_constraint",
		"before_sensitive", "after_sensitive", "after_unknown", "sensitive_values", "replace_paths", "schema_version",
		"relevant_attributes":
		return true
	}
	return false
}

// plain masks a value that has no marks, unless it is one of the structure.
func (r *redacter) plain(value []byte, m masker, name string) []byte {
	if structural(name) {
		return value
	}
	return m.value(value, nil)
}

// rewrite copies an object with each member's value replaced; what is no object stays.
func rewrite(value []byte, replace func(name string, text []byte) []byte) []byte {
	if len(value) == 0 || value[0] != '{' {
		return value
	}
	out := make([]byte, 0, len(value))
	out = append(out, '{')
	_ = jsonscan.Children(value, func(child jsonscan.Child) error {
		if child.Index > 0 {
			out = append(out, ',')
		}
		name := string(child.Name)
		out = append(jsonscan.AppendQuote(out, name), ':')
		out = append(out, replace(name, value[child.Start:child.End])...)
		return nil
	})
	return append(out, '}')
}
