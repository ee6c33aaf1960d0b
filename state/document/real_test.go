package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The states in testdata were written by the real clients, tofu-* by OpenTofu 1.12.6 and
// terraform-* by Terraform 1.5.7; the lists are what state list prints for them.

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func parse(t testing.TB, body []byte) *Document {
	t.Helper()
	d, err := Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// instanceAt finds an instance by its address with the deposed key.
func instanceAt(t testing.TB, d *Document, address string) *Instance {
	t.Helper()
	for i := range d.Instances {
		if d.Instances[i].Place.String() == address {
			return &d.Instances[i]
		}
	}
	t.Fatalf("there is no %s", address)
	return nil
}

func TestAddressesAreTheClients(t *testing.T) {
	for _, name := range []string{"tofu-1", "tofu-2", "terraform-1", "terraform-2"} {
		d := parse(t, readFile(t, name+".tfstate"))
		have := map[string]bool{}
		for _, i := range d.Instances {
			have[i.Address] = true
		}
		list := strings.Split(strings.TrimSpace(string(readFile(t, name+".list"))), "\n")
		for _, address := range list {
			if !have[address] {
				t.Errorf("%s has no %s", name, address)
			}
		}
		if len(have) != len(list) {
			t.Errorf("%s has %d addresses, the client lists %d", name, len(have), len(list))
		}
	}
}

func TestRealHeader(t *testing.T) {
	d := parse(t, readFile(t, "terraform-2.tfstate"))
	if d.TerraformVersion != "1.5.7" || d.Serial == 0 || len(d.Lineage) != 36 {
		t.Errorf("%q, serial %d, lineage %q", d.TerraformVersion, d.Serial, d.Lineage)
	}
	if !instanceAt(t, d, "terraform_data.counted[1]").Tainted() || instanceAt(t, d, "terraform_data.plain").Tainted() {
		t.Error("counted[1] is tainted, plain is not")
	}
	secret := d.Outputs[len(d.Outputs)-1]
	if secret.Name != "secret" || !secret.Sensitive || string(secret.Type) != `"string"` {
		t.Errorf("%+v", secret)
	}
	counts := d.Counts()
	if fast, err := CountOf(readFile(t, "terraform-2.tfstate")); err != nil || fast != counts {
		t.Errorf("CountOf: %+v, %v; the document has %+v", fast, err, counts)
	}
	if want := (Counts{Managed: Count{Resources: 7, Instances: 11}, Data: Count{1, 1}}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
}

func TestRealDeposed(t *testing.T) {
	before, after := readFile(t, "tofu-deposed-1.tfstate"), readFile(t, "tofu-deposed-2.tfstate")
	d := parse(t, after)
	old := d.Instances[2]
	if len(d.Instances) != 3 || len(old.Deposed) != 8 || d.Instances[1].Deposed != "" {
		t.Fatalf("%+v", d.Instances)
	}
	if want := `terraform_data.keep["a"] (deposed ` + old.Deposed + ")"; old.Place.String() != want {
		t.Errorf("%s, want %s", old.Place, want)
	}
	if string(old.Field(FieldCreateBeforeDestroy)) != "true" {
		t.Error("create_before_destroy is lost")
	}
	want := Summary{Added: 1, Changed: 2}
	if diff := Compare(parse(t, before), d, Options{}); diff.Summary != want {
		t.Errorf("%+v, want %+v", diff.Summary, want)
	}
}

// What the configuration of testdata calls secret.
const secretText = "hunter"

func TestRealSecretsStayHidden(t *testing.T) {
	for _, client := range []string{"tofu", "terraform"} {
		first, second := readFile(t, client+"-1.tfstate"), readFile(t, client+"-2.tfstate")
		var text strings.Builder
		d := Compare(parse(t, first), parse(t, second), Options{})
		if err := d.WriteText(&text, nil); err != nil {
			t.Fatal(err)
		}
		if err := WriteRedacted(&text, second, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), secretText) || !strings.Contains(text.String(), "(sensitive value)") {
			t.Errorf("%s: %s", client, text.String())
		}
		if !strings.Contains(string(second), secretText) {
			t.Error("the state has no secret: the test shows nothing")
		}
	}
}

func TestRealInventory(t *testing.T) {
	d := parse(t, readFile(t, "tofu-2.tfstate"))
	i := instanceAt(t, d, "terraform_data.plain")
	if p := i.Provider(); p.Name != "terraform" || p.Source != "terraform.io/builtin/terraform" {
		t.Errorf("%+v", p)
	}
	if id, ok := i.Attribute("id"); !ok || len(id) != 36 {
		t.Errorf("id %q", id)
	}
	if _, ok := i.Attribute("input"); ok {
		t.Error("input is no scalar")
	}
}
