package document

// Field is a member of an instance other than its place and its attributes.
type Field uint8

// The fields. A resource's provider and each count as its instances'.
const (
	FieldProvider Field = iota
	FieldEach
	FieldStatus
	FieldSchemaVersion
	FieldSensitive
	FieldDependencies
	FieldCreateBeforeDestroy
	FieldSkipDestroy
	FieldIdentity
	FieldIdentitySchemaVersion
	FieldFlat
	numFields
)

// String returns the member's name in the state.
func (f Field) String() string {
	name, _ := f.shape()
	return name
}

// shape returns the member's name and how its value starts: 0 stands for a digit, t for a
// boolean, and a space for anything.
func (f Field) shape() (name string, starts byte) {
	switch f {
	case FieldProvider:
		return "provider", '"'
	case FieldEach:
		return "each", '"'
	case FieldStatus:
		return "status", '"'
	case FieldSchemaVersion:
		return "schema_version", '0'
	case FieldSensitive:
		return "sensitive_attributes", ' '
	case FieldDependencies:
		return "dependencies", '['
	case FieldCreateBeforeDestroy:
		return "create_before_destroy", 't'
	case FieldSkipDestroy:
		return "skip_destroy", 't'
	case FieldIdentity:
		return "identity", ' '
	case FieldIdentitySchemaVersion:
		return "identity_schema_version", '0'
	case FieldFlat:
		return "attributes_flat", '{'
	}
	return "", ' '
}

// fieldNamed finds the field with this name.
func fieldNamed(name []byte) (Field, bool) {
	for f := range numFields {
		if string(name) == f.String() {
			return f, true
		}
	}
	return 0, false
}

// takes reports whether the field may have the value.
func (f Field) takes(raw []byte) bool {
	_, starts := f.shape()
	return starts == ' ' || starts == startOf(raw)
}

// startOf classes a value by its first byte: itself, 0 for a digit, t for a boolean, n for
// null.
func startOf(raw []byte) byte {
	switch c := raw[0]; {
	case '0' <= c && c <= '9':
		return '0'
	case c == 'f':
		return 't'
	default:
		return c
	}
}

// plain returns nil for a value that says no more than its absence.
func plain(f Field, raw []byte) []byte {
	switch string(raw) {
	case "null", "false", `""`, "[]":
		return nil
	case "0":
		if f == FieldSchemaVersion {
			return nil
		}
	}
	return raw
}
