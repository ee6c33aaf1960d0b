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

// byInit are the environment variables by which an init executes what a workspace wants, or has providers from where it
// wants; apart by blanks, and a * at an end stands for more. TF_ENCRYPTION has the same for OpenTofu as an encryption
// block. The others are of what fetches modules and providers: git with ssh, Mercurial, the clouds' storages, and whom
// all of them believe.
const byInit = "TF_ENCRYPTION GIT_* SSH_* HG* PYTHON* PERL* OPENSSL_* SSL_* CURL_* AWS_CONFIG_FILE AWS_CA_BUNDLE " +
	"AWS_SHARED_CREDENTIALS_FILE AWS_CONTAINER_* AWS_ENDPOINT_* GOOGLE_EXTERNAL_ACCOUNT_* HTTP_PROXY HTTPS_PROXY " +
	"ALL_PROXY HOSTALIASES LOCALDOMAIN RES_OPTIONS GODEBUG"

// steersInit reports whether an environment variable is one of those.
func steersInit(v api.Input) bool {
	name := strings.ToUpper(v.Name)
	for pattern := range strings.FieldsSeq(byInit) {
		prefix, more := strings.CutSuffix(pattern, "*")
		if name == prefix || more && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// maxLooked is how large a file of a configuration is looked into.
const maxLooked = 1 << 20

// executesInInit reports whether the init of a configuration may execute code of it, or of its workspace: OpenTofu asks
// the key providers and methods of an encryption block as soon as it reads the root module, and those may be commands.
// It may say so of one that is harmless, and of one that can't be read.
func executesInInit(configuration, root string, environment []api.Input) bool {
	if slices.ContainsFunc(environment, steersInit) || inRepository(configuration, root) {
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

// inRepository reports whether a folder of a configuration is in a repository that comes with it, or is one: what git
// fetches modules by would be as the settings in there say.
func inRepository(configuration, folder string) bool {
	for ; ; folder = filepath.Dir(folder) {
		for _, name := range []string{".git", "HEAD", ".hg"} {
			if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
				return true
			}
		}
		if len(folder) <= len(configuration) {
			return false
		}
	}
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
