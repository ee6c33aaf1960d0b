package enclave_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/enclave"
)

// folder makes one of texts by their paths; a partition's .tf file is there by itself.
func folder(files map[string]string) fstest.MapFS {
	made := fstest.MapFS{}
	for path, text := range files {
		made[path] = &fstest.MapFile{Data: []byte(text)}
		if dir, ok := strings.CutSuffix(path, "/config.yml"); ok {
			made[dir+"/main.tf"] = &fstest.MapFile{}
		}
	}
	return made
}

const (
	productA = "id: product-a-dev\nname: Product A\ncloud: gcp\nregion: us-central1\nidentity: product-a-dev-sa\n" +
		"handle:\n  project_id: myorg-product-a-dev\n"
	database = `id: db
name: Database
produces: tcp
backend: terraform
terraform:
  tool: tofu
declared_outputs:
  - hostname
  - port
inputs:
  db_name: myapp
  size: 5
exports:
  - name: database
`
	interfaceOfA = `id: api
produces: http
backend: opentofu
imports:
  - alias: database
    from: db
inputs:
  db_host: "{{ database.hostname }}"
  url: "tcp://{{database.hostname}}:{{ database.port }}/x"
`
)

func productAFolder() map[string]string {
	return map[string]string{"product-a/dev/config.yml": productA, "product-a/dev/db/config.yml": database,
		"product-a/dev/api/config.yml": interfaceOfA}
}

func TestExampleIsRead(t *testing.T) {
	tree, err := enclave.Load(folder(productAFolder()))
	if err != nil {
		t.Fatal(err)
	}
	order, err := tree.Order()
	if err != nil || len(order) != 2 || order[0].Path() != "product-a-dev/db" || order[1].Path() != "product-a-dev/api" {
		t.Fatalf("%v %v", order, err)
	}
	if order[0].Runs() != enclave.ToolOpenTofu || order[1].Runs() != enclave.ToolOpenTofu {
		t.Errorf("tools: %s, %s", order[0].Runs(), order[1].Runs())
	}
	said := func(string) map[string]enclave.Output {
		return map[string]enclave.Output{"hostname": {Value: json.RawMessage(`"10.0.1.5"`)},
			"port": {Value: json.RawMessage("5432"), Sensitive: true}}
	}
	got, err := order[1].Resolve(said)
	want := []enclave.Resolved{{Name: "db_host", Value: "10.0.1.5"},
		{Name: "url", Value: "tcp://10.0.1.5:5432/x", Sensitive: true}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = order[1].Resolve(func(string) map[string]enclave.Output { return nil })
	if err == nil || !strings.Contains(err.Error(), "product-a-dev/db has no output hostname yet") {
		t.Error(err)
	}
	inputs, err := order[0].Resolve(said)
	want = []enclave.Resolved{{Name: "db_name", Value: "myapp"}, {Name: "size", Value: "5"}}
	if diff := cmp.Diff(want, inputs); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestAllFaultsAreSaidAtOnce(t *testing.T) {
	files := productAFolder()
	files["product-a/dev/api/config.yml"] = `id: api
produce: http
backend: pulumi
imports:
  - alias: database
    from: db
    export: databse
  - from: db
inputs:
  db_host: "{{ other.hostname }}"
  nclav_region: x
  bad: "{{ oops"
`
	files["product-a/dev/web/config.yml"] = "id: db\nproduces: udp\n"
	files["x/config.yml"] = "id: product-a-dev\ncloud: gcp\n"
	files["y/config.yml"] = "a: [\n"
	files["z/config.yml"] = "id: z\n"
	files["z/p/config.yml"] = "id: p\nproduces: tcp\ninputs:\n  a: {{ b.c }}\n"
	_, err := enclave.Load(folder(files))
	want := []string{
		`product-a/dev/api/config.yml:1: a partition needs produces: http, tcp, queue`,
		`product-a/dev/api/config.yml:2: a partition has no field "produce"; it has `,
		`product-a/dev/api/config.yml:3: backend is "pulumi": managed, terraform, opentofu are known`,
		`product-a/dev/api/config.yml:5: the import database wants the export databse: product-a-dev/db has database`,
		`product-a/dev/api/config.yml:8: an import needs an alias`,
		`product-a/dev/api/config.yml:10: inputs.db_host: there is no import with the alias other`,
		`product-a/dev/api/config.yml:11: inputs: names that begin with nclav_`,
		`product-a/dev/api/config.yml:12: inputs.bad: "{{" is not closed`,
		`product-a/dev/web/config.yml:1: the partition db is in product-a/dev/db/config.yml already`,
		`product-a/dev/web/config.yml:2: produces is "udp"`,
		`x/config.yml:1: an enclave in the cloud gcp needs handle.project_id`,
		`x/config.yml:1: the enclave product-a-dev is in product-a/dev/config.yml already`,
		`y/config.yml:1: this is no YAML`,
		`z/p/config.yml:4: this is no YAML: could not find flow map content; put {{ alias.key }} into quotes`,
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	for _, line := range want {
		if !strings.Contains(text, line) {
			t.Errorf("no %q", line)
		}
	}
	if got := len(strings.Split(text, "\n")); got != len(want) || t.Failed() {
		t.Errorf("%d faults, want %d:\n%s", got, len(want), text)
	}
}

func TestCircleIsShownWithItsPath(t *testing.T) {
	one := func(id, from string) string {
		return "id: " + id + "\nproduces: http\ndeclared_outputs: [x]\nexports:\n  - name: e\nimports:\n  - alias: a\n    from: " +
			from + "\n"
	}
	_, err := enclave.Load(folder(map[string]string{"e/config.yml": "id: e\n", "e/a/config.yml": one("a", "b"),
		"e/b/config.yml": one("b", "c"), "e/c/config.yml": one("c", "e/a")}))
	want := "e/a/config.yml:7: partitions import from each other in a circle: e/a -> e/b -> e/c -> e/a"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestNothingIsNoFolderOfEnclaves(t *testing.T) {
	if _, err := enclave.Load(fstest.MapFS{"readme.md": {}}); err == nil ||
		!strings.Contains(err.Error(), "no folder has a config.yml") {
		t.Error(err)
	}
}

func TestCloudsGiveContextAndEnvironment(t *testing.T) {
	for cloud, test := range map[string]struct {
		handle       string
		context, env map[string]string
	}{
		"local": {"", map[string]string{"nclav_project_id": ""}, map[string]string{}},
		"gcp": {"project_id: myorg-product-a-dev", map[string]string{"nclav_project_id": "myorg-product-a-dev"},
			map[string]string{"GOOGLE_PROJECT": "myorg-product-a-dev",
				"GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "product-a-dev-sa@myorg-product-a-dev.iam.gserviceaccount.com"}},
		"aws": {`account_id: "012345678901"`, map[string]string{"nclav_project_id": "", "nclav_account_id": "012345678901"},
			map[string]string{"AWS_REGION": "r1", "AWS_ROLE_ARN": "arn:aws:iam::012345678901:role/product-a-dev-sa",
				"AWS_ROLE_SESSION_NAME": "holdfast"}},
		"azure": {"subscription_id: s\n  tenant_id: t", map[string]string{"nclav_project_id": "",
			"nclav_subscription_id": "s", "nclav_tenant_id": "t"},
			map[string]string{"ARM_CLIENT_ID": "product-a-dev-sa", "ARM_TENANT_ID": "t", "ARM_SUBSCRIPTION_ID": "s"}},
	} {
		text := "id: e\ncloud: " + cloud + "\nregion: r1\nidentity: product-a-dev-sa\n"
		if test.handle != "" {
			text += "handle:\n  " + test.handle + "\n"
		}
		tree, err := enclave.Load(folder(map[string]string{"e/config.yml": text,
			"e/p/config.yml": "id: p\nproduces: http\n"}))
		if err != nil {
			t.Error(cloud, err)
			continue
		}
		p := tree.Partitions()[0]
		test.context["nclav_enclave_id"], test.context["nclav_partition_id"], test.context["nclav_region"] = "e", "p", "r1"
		if diff := cmp.Diff(test.context, p.Context()); diff != "" {
			t.Error(cloud, diff)
		}
		if diff := cmp.Diff(test.env, p.Enclave.Driver().AuthEnv(p.Enclave)); diff != "" {
			t.Error(cloud, diff)
		}
	}
}

// The folder that the page shows can be read.
func TestFolderOfThePageIsRead(t *testing.T) {
	page, err := os.ReadFile("../docs/enclaves.md")
	if err != nil {
		t.Fatal(err)
	}
	files, name := map[string]string{}, ""
	for line := range strings.Lines(string(page)) {
		code, indented := strings.CutPrefix(line, "    ")
		path, begins := strings.CutPrefix(code, "# enclaves/")
		switch {
		case indented && begins:
			name = strings.TrimSpace(path)
		case indented && name != "":
			files[name] += code
		case strings.TrimSpace(line) != "":
			name = ""
		}
	}
	tree, err := enclave.Load(folder(files))
	if err != nil || len(files) != 5 || len(tree.Partitions()) != 2 {
		t.Errorf("%d files: %v", len(files), err)
	}
	if p := tree.Partition("product-a-dev/api"); p == nil || !slices.Equal(p.Needs(), []string{"product-a-dev/db"}) {
		t.Errorf("%+v", p)
	}
}
