package tools_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/holdfast/holdfast/agent/tools"
)

// mirror is a mirror of OpenTofu and Terraform with a key of its own.
type mirror struct {
	t       *testing.T
	root    string
	store   *tools.Store
	key     *openpgp.Entity
	keyFile string

	mu     sync.Mutex
	files  map[string][]byte
	asked  map[string]int
	before func(path string) // an answer
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{t: t, root: filepath.Join(t.TempDir(), "tools"), key: newKey(t), files: map[string][]byte{},
		asked: map[string]int{}}
	m.keyFile = writeKeys(t, m.key)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.store = m.open(server.URL, m.keyFile)
	m.files["/opentofu.json"] = []byte(`{"versions":[{"id":"1.13.0-beta1"},{"id":"1.12.6","files":["x"]},{"id":"1.11.0"}]}`)
	m.files["/terraform/index.json"] = []byte(`{"name":"terraform","versions":{"1.4.6":{},"1.5.7":{"builds":[]}}}`)
	return m
}

// open returns a store that downloads from an address.
func (m *mirror) open(address, keyFile string) *tools.Store {
	return tools.New(tools.Settings{
		Root: m.root, AllowDownload: true, Now: func() time.Time { return someTime },
		OpenTofu:  tools.Mirror{Address: address + "/opentofu/", Index: address + "/opentofu.json", KeyFile: keyFile},
		Terraform: tools.Mirror{Address: address + "/terraform", Index: address + "/terraform/index.json", KeyFile: keyFile},
	})
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	data, found := m.files[r.URL.Path]
	m.asked[r.URL.Path]++
	before := m.before
	m.mu.Unlock()
	if before != nil {
		before(r.URL.Path)
	}
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// offerTofu puts a whole release of OpenTofu into the mirror.
func (m *mirror) offerTofu(version string) {
	m.offer("/opentofu/v"+version+"/tofu_"+version, ".gpgsig",
		zipped(m.t, entry{name: "LICENSE", text: "MPL"}, entry{name: "tofu", text: tofu(version), mode: 0o755}))
}

func (m *mirror) offerTerraform(version string) {
	m.offer("/terraform/"+version+"/terraform_"+version, ".sig",
		zipped(m.t, entry{name: "terraform", text: terraform(version)}))
}

func (m *mirror) offer(start, suffix string, archive []byte) {
	sum := sha256.Sum256(archive)
	m.put(start+"_"+platform+".zip", archive)
	m.sign(start+"_SHA256SUMS", suffix,
		fmt.Sprintf("%s  other.zip\n%s  %s_%s.zip\n", hex.EncodeToString(make([]byte, 32)), hex.EncodeToString(sum[:]),
			filepath.Base(start), platform))
}

// sign puts a list of checksums and its signature into the mirror.
func (m *mirror) sign(path, suffix, sums string) {
	m.put(path, []byte(sums))
	m.put(path+suffix, signature(m.t, m.key, sums))
}

func (m *mirror) put(path string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[path] = data
}

func (m *mirror) count(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[path]
}

func clock() *packet.Config {
	return &packet.Config{Time: func() time.Time { return someTime.Add(-time.Hour) }, Algorithm: packet.PubKeyAlgoEdDSA}
}

func newKey(t *testing.T) *openpgp.Entity {
	t.Helper()
	key, err := openpgp.NewEntity("Releases", "", "releases@example.com", clock())
	must(t, err)
	return key
}

// writeKeys writes an armored file of public keys.
func writeKeys(t *testing.T, keys ...*openpgp.Entity) string {
	t.Helper()
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	must(t, err)
	for _, key := range keys {
		must(t, key.Serialize(w))
	}
	must(t, w.Close())
	path := filepath.Join(t.TempDir(), "keys.asc")
	must(t, os.WriteFile(path, text.Bytes(), 0o600))
	return path
}

func signature(t *testing.T, key *openpgp.Entity, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, openpgp.DetachSign(&out, key, bytes.NewReader([]byte(text)), clock()))
	return out.Bytes()
}

type entry struct {
	name, text string
	mode       fs.FileMode
}

func zipped(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			header.SetMode(e.mode)
		}
		w, err := z.CreateHeader(header)
		must(t, err)
		_, err = w.Write([]byte(e.text))
		must(t, err)
	}
	must(t, z.Close())
	return out.Bytes()
}
