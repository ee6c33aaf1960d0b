package inventory_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/inventory"
)

// FuzzParse: whatever comes is taken or refused with a reason. What is taken keeps the
// rules, and its attributes are those that encoding/json reads, with numbers as spelled.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(list(`{"resource_name":"a","attributes":{"size":"t2.micro"}}`,
		`{"attributes":{"id":12345678901234567890}}`)))
	f.Add([]byte(`{"name":"n",` + head + `,"resource_name":"x","properties":{"a/b":[1.0e+00,{"~":null}]}}`))
	f.Add([]byte(`{` + head +
		`,"instances":[1,[],{"attributes":[]},{"properties":{"":"\u0041"},"attributes":{}}],"x":{"instances":[]}}`))
	f.Add([]byte(list(`{"resource_name":"a","attributes":{"passw\u006frd":"p","credentials":[{"n":[1,""]},{}],"z":{}}}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		upload, err := inventory.Parse(body)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			refused(t, body, err)
			return
		}
		if want := reference(t, body); !cmp.Equal(decoded(t, upload.Resources), want) {
			t.Fatalf("%s\n%s", body, cmp.Diff(want, decoded(t, upload.Resources)))
		}
		for _, r := range upload.Resources {
			kept(t, r)
		}
		masks(t, body)
	})
}

// masks checks that of an upload which is taken only the secrets are left out, and all of them.
func masks(t *testing.T, body []byte) {
	secrets := secretsWith(t, inventory.MaskSecrets)
	upload, err := inventory.ParseWith(body, secrets)
	if err != nil {
		t.Fatalf("%s: with secrets masked: %v", body, err)
	}
	var want []any
	for _, attributes := range reference(t, body) {
		want = append(want, maskedIn(secrets.Names, attributes, false))
	}
	if !cmp.Equal(decoded(t, upload.Resources), want) {
		t.Fatalf("%s\n%s", body, cmp.Diff(want, decoded(t, upload.Resources)))
	}
	for _, r := range upload.Resources {
		kept(t, r)
	}
}

// maskedIn is a value as it is to be kept; isSecret says that the name of what it stands in is a secret's.
func maskedIn(names inventory.SecretNames, value any, isSecret bool) any {
	switch v := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, one := range v {
			all[name] = maskedIn(names, one, isSecret || names.Match(name))
		}
		return all
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = maskedIn(names, one, isSecret)
		}
		return all
	case string:
		if isSecret && v != "" {
			return "(masked)"
		}
	case json.Number:
		if isSecret {
			return "(masked)"
		}
	}
	return value
}

func refused(t *testing.T, body []byte, err error) {
	malformed := fault.Is(err, fault.UploadMalformed)
	if !malformed && !fault.Is(err, fault.UploadInvalid) || len(details(err)) == 0 {
		t.Fatalf("%s: %v without a reason", body, err)
	}
	for _, d := range details(err) {
		if !utf8.ValidString(d.Pointer) {
			t.Fatalf("the pointer %q is no text", d.Pointer)
		}
	}
}

// kept checks what the contract of Resource says.
func kept(t *testing.T, r inventory.Resource) {
	for _, text := range []string{r.Provider, r.Category, r.ResourceType, r.ResourceName} {
		if n := utf8.RuneCountInString(text); n < 1 || n > 255 || bytes.ContainsRune([]byte(text), 0) {
			t.Fatalf("%+v has a text of %d characters", r, n)
		}
	}
	compacted := jsontext.Value(bytes.Clone(r.Attributes))
	if err := compacted.Compact(); err != nil || !bytes.Equal(compacted, r.Attributes) || compacted.Kind() != '{' {
		t.Fatalf("attributes %s are not a compact object (%v)", r.Attributes, err)
	}
}

// decoded reads attributes with encoding/json.
func decoded(t *testing.T, resources []inventory.Resource) []any {
	var all []any
	for _, r := range resources {
		all = append(all, decode[any](t, r.Attributes))
	}
	return all
}

// reference finds the attributes of an upload by decoding it whole.
func reference(t *testing.T, body []byte) []any {
	whole := decode[map[string]any](t, body)
	instances, ok := whole["instances"].([]any)
	if !ok {
		instances = []any{whole}
	}
	var all []any
	for _, instance := range instances {
		members := instance.(map[string]any)
		attributes := members["attributes"]
		if attributes == nil {
			attributes = members["properties"]
		}
		if attributes == nil {
			attributes = map[string]any{}
		}
		all = append(all, attributes)
	}
	return all
}

func decode[T any](t *testing.T, data []byte) T {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value T
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
