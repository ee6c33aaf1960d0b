package resources_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/resources"
)

// Uploads don't say what is sensitive in them: what its name says to be is in no answer, and
// not in the index. Other rules say otherwise.
func TestUploadedSecretsAreNotKept(t *testing.T) {
	w := newWorld(t)
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-1","keys":"public",
		"password":"hunter1","dbPassword":"hunter2","API-KEY":"hunter3","private_key_pem":"hunter4","client_secret":48151623,
		"tags":{"Env":"prod","Auth-Token":"hunter5"},"labels":{"token":"hunter6"}}}`)
	w.catchUp()
	if kept := w.kept(); kept != "id=i-1 keys=public Env=prod" {
		t.Errorf("kept: %s", kept)
	}
	for _, secret := range []string{"hunter", "48151623"} {
		w.wantInIndex(secret, false)
	}

	must(t, w.index.Close())
	w.open()
	rules, err := resources.ReadRules([]byte(`{"secret":["PRIVATE key"]}`))
	must(t, err)
	w.indexer.Rules = rules
	w.catchUp()
	if kept := w.kept(); !strings.Contains(kept, "password=hunter1") || strings.Contains(kept, "hunter4") {
		t.Errorf("with another list of secrets: %s", kept)
	}
}

// kept is what the index has of its only resource.
func (w *world) kept() string {
	w.t.Helper()
	page, err := w.service.Search(w.t.Context(), owner(acme), resources.Query{Limit: 10})
	must(w.t, err)
	if len(page.Resources) != 1 {
		w.t.Fatalf("%d resources", len(page.Resources))
	}
	var texts []string
	for _, pair := range slices.Concat(page.Resources[0].Attributes, page.Resources[0].Tags) {
		texts = append(texts, pair.Name+"="+pair.Value)
	}
	return strings.Join(texts, " ")
}

func TestASecretWithoutALetterIsRefused(t *testing.T) {
	if _, err := resources.ReadRules([]byte(`{"secret":["password","_"]}`)); err == nil {
		t.Error("rules that would leave out every attribute were taken")
	}
}
