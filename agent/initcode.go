package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// encryptionVariable has the same for OpenTofu as an encryption block.
const encryptionVariable = "TF_ENCRYPTION"

// maxLooked is how large a file of a configuration is looked into.
const maxLooked = 1 << 20

// executesInInit reports whether the init of a configuration may execute code of it: OpenTofu asks the
// key providers and methods of an encryption block as soon as it reads the root module, and those
// may be commands. It may say so of one that is harmless, and of one that can't be read.
func executesInInit(root string, environment []api.Input) bool {
	if slices.ContainsFunc(environment, func(v api.Input) bool { return v.Name == encryptionVariable }) {
		return true
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		return isConfiguration(entry.Name()) && speaksOfEncryption(root, entry)
	})
}

func isConfiguration(name string) bool {
	return slices.ContainsFunc([]string{".tf", ".tofu", ".tf.json", ".tofu.json"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// speaksOfEncryption looks for the name of the block, which HCL can't spell in another way. JSON can.
// What is no file of some size is not looked into: a plan may have left anything there.
func speaksOfEncryption(root string, entry os.DirEntry) bool {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLooked {
		return true
	}
	text, err := os.ReadFile(filepath.Join(root, entry.Name()))
	if err != nil {
		return true
	}
	found := regexp.MustCompile(`\bencryption\b`).Match(text)
	return found || strings.HasSuffix(entry.Name(), ".json") && bytes.Contains(text, []byte(`\u`))
}
