package openapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Schema is a JSON Schema of 2020-12, whose members keep the order in which they were put there.
type Schema []Member

// Member is one member of an object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (s Schema) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range s {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := unescaped(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := unescaped(m.Value)
		if err != nil {
			return nil, err
		}
		text.Write(append(append(name, ':'), value...))
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// unescaped is JSON in which <, > and & stand as they are.
func unescaped(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}

// With returns the schema with one more member.
func (s Schema) With(name string, value any) Schema {
	return append(s[:len(s):len(s)], Member{name, value})
}

// Of is a schema of one JSON type.
func Of(kind string) Schema { return Schema{{"type", kind}} }

// Ref is a schema of the document's components.
func Ref(name string) Schema { return Schema{{"$ref", "#/components/schemas/" + name}} }

// Types makes schemas of Go types, as encoding/json writes them. A struct with a name becomes a
// component. Four tags of a field say what its Go type does not:
//
//	enum:"a|b"      it is one of these texts; one name with a capital is an entry of Words
//	schema:"X|Y"    it is raw JSON of these: a component, string, number or object
//	null:"…"        the slice or map is null for none
//	absent:"…"      who sends it may leave it out, though it is always written here
type Types struct {
	Comments Comments
	// Words are texts of which a member is one, by the name of their component.
	Words map[string][]string
	made  map[string]Schema
}

// SchemaOf returns the schema of a type.
func (t *Types) SchemaOf(of reflect.Type) Schema {
	switch of {
	case reflect.TypeFor[time.Time]():
		return Of("string").With("format", "date-time")
	case reflect.TypeFor[uuid.UUID]():
		return Of("string").With("format", "uuid")
	case reflect.TypeFor[json.RawMessage]():
		return Schema{}
	}
	if _, ok := t.Words[of.Name()]; ok && of.Kind() == reflect.String {
		return t.word(of.Name())
	}
	switch of.Kind() {
	case reflect.Bool:
		return Of("boolean")
	case reflect.Int, reflect.Int64:
		return Of("integer").With("format", "int64")
	case reflect.Uint, reflect.Uint64:
		return Of("integer").With("format", "int64").With("minimum", 0)
	case reflect.Float64:
		return Of("number")
	case reflect.String:
		return Of("string")
	case reflect.Pointer:
		return t.SchemaOf(of.Elem())
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return Of("string").With("contentEncoding", "base64")
		}
		return Of("array").With("items", t.SchemaOf(of.Elem()))
	case reflect.Map:
		return Of("object").With("additionalProperties", t.SchemaOf(of.Elem()))
	case reflect.Struct:
		return t.component(of)
	}
	panic("openapi: no schema for " + of.String())
}

func (t *Types) component(of reflect.Type) Schema {
	if of.Name() == "" {
		return t.object(of, "")
	}
	if t.made == nil {
		t.made = map[string]Schema{}
	}
	if _, ok := t.made[of.Name()]; !ok {
		t.made[of.Name()] = nil // so that a type may have itself inside
		t.made[of.Name()] = t.object(of, t.Comments[of.Name()])
	}
	return Ref(of.Name())
}

func (t *Types) word(name string) Schema {
	if t.made == nil {
		t.made = map[string]Schema{}
	}
	made := Of("string")
	if text := t.Comments[name]; text != "" {
		made = made.With("description", text)
	}
	t.made[name] = made.With("enum", t.Words[name])
	return Ref(name)
}

func (t *Types) object(of reflect.Type, description string) Schema {
	var properties Schema
	var required []string
	t.members(of, func(name string, f reflect.StructField, owner string) {
		schema := t.fieldOf(f)
		if text := t.Comments[owner+"."+f.Name]; text != "" {
			schema = schema.With("description", text)
		}
		properties = properties.With(name, schema)
		if !optional(f) {
			required = append(required, name)
		}
	})
	made := Of("object")
	if description != "" {
		made = made.With("description", description)
	}
	if properties == nil {
		properties = Schema{}
	}
	made = made.With("properties", properties)
	if len(required) > 0 {
		made = made.With("required", required)
	}
	return made
}

// members are those of a struct, and of the structs that are embedded in it.
func (t *Types) members(of reflect.Type, each func(name string, f reflect.StructField, owner string)) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			t.members(f.Type, each)
		case f.IsExported() && name != "-":
			if name == "" {
				name = f.Name
			}
			each(name, f, of.Name())
		}
	}
}

func optional(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.Contains(options, "omitempty") || f.Tag.Get("absent") != ""
}

// fieldOf is the schema of a field: of its type, narrowed by its tags.
func (t *Types) fieldOf(f reflect.StructField) Schema {
	made := t.SchemaOf(f.Type)
	element := f.Type.Kind() == reflect.Slice && f.Type != reflect.TypeFor[json.RawMessage]()
	if narrow := t.narrowed(f); narrow != nil {
		made = narrow
		if element {
			made = Of("array").With("items", narrow)
		}
	}
	if f.Tag.Get("null") != "" || f.Type.Kind() == reflect.Pointer && !optional(f) {
		return orNull(made)
	}
	return made
}

// narrowed is what a field's tags say; nil where they say nothing.
func (t *Types) narrowed(f reflect.StructField) Schema {
	if text := f.Tag.Get("enum"); text != "" {
		if _, ok := t.Words[text]; ok {
			return t.word(text)
		}
		words := strings.Split(text, "|")
		if len(words) == 1 {
			return Of("string").With("const", text)
		}
		return Of("string").With("enum", words)
	}
	text := f.Tag.Get("schema")
	if text == "" {
		return nil
	}
	var any []Schema
	for one := range strings.SplitSeq(text, "|") {
		any = append(any, t.named(one))
	}
	if len(any) == 1 {
		return any[0]
	}
	return Schema{{"anyOf", any}}
}

func (t *Types) named(name string) Schema {
	switch name {
	case "string", "number", "integer":
		return Of(name)
	case "object":
		return Of(name).With("additionalProperties", true)
	}
	return Ref(name)
}

// orNull allows null beside what a schema allows.
func orNull(s Schema) Schema {
	if len(s) > 0 && s[0].Name == "type" && !has(s, "enum") && !has(s, "const") {
		changed := append(Schema{}, s...)
		changed[0].Value = []any{s[0].Value, "null"}
		return changed
	}
	return Schema{{"anyOf", []Schema{s, Of("null")}}}
}

func has(s Schema, name string) bool {
	for _, m := range s {
		if m.Name == name {
			return true
		}
	}
	return false
}
