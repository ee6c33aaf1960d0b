package inventory_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

func secretsWith(t *testing.T, policy inventory.SecretPolicy) inventory.Secrets {
	t.Helper()
	names, err := inventory.NewSecretNames([]string{"password", "API key", "credential"})
	if err != nil {
		t.Fatal(err)
	}
	return inventory.Secrets{Policy: policy, Names: names}
}

const secretHead = `{"provider":"aws","category":"c","resource_type":"db","resource_name":"a","attributes":`

func TestSecretsAreMasked(t *testing.T) {
	tests := []struct {
		name, attributes, kept string
		masked                 int
	}{
		{"none", `{"id":"i-1","engine":"x"}`, `{"id":"i-1","engine":"x"}`, 0},
		{"by any spelling", `{"db_Password":"p\"}1","id":"i-1","apiKey":"k","API-KEY":"l"}`,
			`{"db_Password":"(masked)","id":"i-1","apiKey":"(masked)","API-KEY":"(masked)"}`, 3},
		{"a name with escapes", `{"p\u0061ssword":"x"}`, `{"p\u0061ssword":"(masked)"}`, 1},
		{"a number, not what says nothing", `{"password":48151623,"password_set":true,"passwords":null,"password2":""}`,
			`{"password":"(masked)","password_set":true,"passwords":null,"password2":""}`, 1},
		{"all that is in a list or an object", `{"credentials":[{"user":"u","n":[1,{"deep":"d"}]},"e"],"after":"a"}`,
			`{"credentials":[{"user":"(masked)","n":["(masked)",{"deep":"(masked)"}]},"(masked)"],"after":"a"}`, 4},
		{"below others", `{"tags":{"Env":"prod","password":"p"},"list":[{"password":"q","x":1.50}]}`,
			`{"tags":{"Env":"prod","password":"(masked)"},"list":[{"password":"(masked)","x":1.50}]}`, 2},
		{"an empty one ends at once", `{"credentials":{},"a":"b","password":[],"c":"d"}`,
			`{"credentials":{},"a":"b","password":[],"c":"d"}`, 0},
		{"spaced", "{ \"password\" :\t\"p p\" ,\n \"a b\": \"c d\" }", `{"password":"(masked)","a b":"c d"}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upload, err := inventory.ParseWith([]byte(secretHead+tt.attributes+"}"), secretsWith(t, inventory.MaskSecrets))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(upload.Resources[0].Attributes); got != tt.kept || upload.Masked != tt.masked {
				t.Errorf("%d masked: %s", upload.Masked, got)
			}
		})
	}
}

// TestManySecretsInOne: a list or an object of more secrets than anybody looks at is masked as a whole, so that no
// upload grows to many times its size.
func TestManySecretsInOne(t *testing.T) {
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	members := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = `"m` + strconv.Itoa(i) + `":` + strconv.Itoa(i)
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	const hidden = inventory.Masked
	for attributes, kept := range map[string]string{
		`{"password":` + list(100, "1") + `}`:                              `{"password":` + list(100, hidden) + `}`,
		`{"password":` + list(101, "1") + `,"a":1}`:                        `{"password":"(masked)","a":1}`,
		`{"password":` + members(101) + `,"b":{"password":[2]}}`:           `{"password":"(masked)","b":{"password":["(masked)"]}}`,
		`{"password":[` + list(60, "1") + `,{"x":` + list(60, "1") + `}]}`: `{"password":"(masked)"}`,
		`{"password":7,"credentials":` + list(1<<20, "1") + `,"b":"b"}`:    `{"password":"(masked)","credentials":"(masked)","b":"b"}`,
		`{"password": [ ` + strings.Repeat("1 , ", 200) + ` 1 ], "a" : 1}`: `{"password":"(masked)","a":1}`,
	} {
		upload, err := inventory.ParseWith([]byte(secretHead+attributes+"}"), secretsWith(t, inventory.MaskSecrets))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(upload.Resources[0].Attributes); got != kept {
			t.Errorf("%.60s: %d bytes are kept: %.80s", attributes, len(got), got)
		}
		if least := strings.Count(attributes, "1,"); upload.Masked < least {
			t.Errorf("%.60s: %d of more than %d secrets are counted", attributes, upload.Masked, least)
		}
	}
}

// Each resource of a list is masked by itself, and what is around its attributes moves nothing.
func TestSecretsOfSeveralResourcesAreMasked(t *testing.T) {
	body := `{"instances":[{"attributes":{"password":"p1","id":"1"},"resource_name":"x"},` +
		`{"resource_name":"y","properties":{"id":"2"}},{"properties":{"id":"3","password":"p3"}}],` +
		`"provider":"aws","category":"c","resource_type":"db"}`
	upload, err := inventory.ParseWith([]byte(body), secretsWith(t, inventory.MaskSecrets))
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, r := range upload.Resources {
		kept = append(kept, r.ResourceName+" "+string(r.Attributes))
	}
	want := []string{`x {"password":"(masked)","id":"1"}`, `y {"id":"2"}`, `3 {"id":"3","password":"(masked)"}`}
	if !slices.Equal(kept, want) || upload.Masked != 2 {
		t.Errorf("%d masked: %q", upload.Masked, kept)
	}
}

func TestSecretsAreRefused(t *testing.T) {
	_, err := inventory.ParseWith([]byte(secretHead+`{"id":"1","tags":{"password":"hunter2"}}}`),
		secretsWith(t, inventory.RefuseSecrets))
	f := fault.From(err)
	if !fault.Is(err, fault.UploadInvalid) || len(f.Details) != 1 || f.Details[0].Pointer != "/attributes/tags/password" {
		t.Fatalf("%v, %+v", err, f.Details)
	}
	if strings.Contains(err.Error()+f.Details[0].Rule, "hunter2") {
		t.Errorf("the error has the secret: %v", err)
	}
}

func TestSecretsAreAccepted(t *testing.T) {
	none := inventory.Secrets{Policy: inventory.MaskSecrets}
	for _, secrets := range []inventory.Secrets{{}, none, secretsWith(t, inventory.AcceptSecrets)} {
		upload, err := inventory.ParseWith([]byte(secretHead+`{"password":"p"}}`), secrets)
		if err != nil || string(upload.Resources[0].Attributes) != `{"password":"p"}` || upload.Masked != 0 {
			t.Errorf("%+v: %v, %v", secrets, upload, err)
		}
	}
}

func TestNamesOfSecretsHaveSomething(t *testing.T) {
	if _, err := inventory.NewSecretNames([]string{"password", "-_"}); err == nil {
		t.Error("a part that is in all names is taken")
	}
}
