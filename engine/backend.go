package engine

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/statefile"
)

// storeOf is where the configuration says that its state is, in a workspace of the local backend.
func storeOf(root *config.Module, path, workspace string) (statefile.Store, error) {
	if root.Backend == nil {
		return localStore(root, path, workspace, backend{})
	}
	b, err := readBackend(root.Backend)
	if err != nil {
		return nil, err
	}
	if root.Backend.Type == "http" && workspace != "" && workspace != DefaultWorkspace {
		return nil, diag.At(root.Backend.Range, "backend", "the http backend has no workspaces, and %q is selected", workspace)
	}
	if root.Backend.Type == "http" {
		return httpStore(b)
	}
	return localStore(root, path, workspace, b)
}

func localStore(root *config.Module, path, workspace string, b backend) (statefile.Store, error) {
	if path == "" {
		path = b.settings["path"]
	}
	if path == "" {
		path = "terraform.tfstate"
	}
	if workspace != "" && workspace != DefaultWorkspace {
		path = filepath.Join(workspaceFolder, workspace, filepath.Base(path))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root.Dir, path)
	}
	return statefile.NewLocal(path), nil
}

// backend is what a backend's block says, as text.
type backend struct {
	settings map[string]string
	at       hcl.Range
}

// backendSettings are the names of what a kind of backend may be told.
func backendSettings(kind string) []string {
	if kind == "local" {
		return []string{"path"}
	}
	return []string{"address", "update_method", "lock_address", "lock_method", "unlock_address", "unlock_method",
		"username", "password", "skip_cert_verification", "retry_max", "retry_wait_min", "retry_wait_max",
		"client_ca_certificate_pem", "client_certificate_pem", "client_private_key_pem"}
}

func readBackend(block *config.Backend) (backend, error) {
	b := backend{map[string]string{}, block.Range}
	attributes, problems := block.Body.JustAttributes()
	if err := diag.OfHCL(problems, "backend"); err != nil {
		return b, err
	}
	for name, a := range attributes {
		if !slices.Contains(backendSettings(block.Type), name) {
			return b, diag.At(a.NameRange, "backend", "the backend %q has no setting %s", block.Type, name)
		}
		v, problems := a.Expr.Value(nil)
		if err := diag.OfHCL(problems, "backend"); err != nil {
			return b, err
		}
		text, err := convert.Convert(v, cty.String)
		if err != nil {
			return b, diag.At(a.Range, "backend", "%s is text", name)
		}
		if !text.IsNull() {
			b.settings[name] = text.AsString()
		}
	}
	return b, nil
}

// get is a setting: what the environment says comes before what is written.
func (b backend) get(name, variable string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	return b.settings[name]
}

func (b backend) number(name, variable string, otherwise int) (int, error) {
	text := b.get(name, variable)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, diag.At(b.at, "backend", "%s is a number that isn't negative", name)
	}
	return n, nil
}

func httpStore(b backend) (statefile.Store, error) {
	h := &statefile.HTTP{
		Address:     b.get("address", "TF_HTTP_ADDRESS"),
		LockAddress: b.get("lock_address", "TF_HTTP_LOCK_ADDRESS"), LockMethod: b.get("lock_method", "TF_HTTP_LOCK_METHOD"),
		UnlockAddress: b.get("unlock_address", "TF_HTTP_UNLOCK_ADDRESS"),
		UnlockMethod:  b.get("unlock_method", "TF_HTTP_UNLOCK_METHOD"),
		UpdateMethod:  b.get("update_method", "TF_HTTP_UPDATE_METHOD"),
		Username:      b.get("username", "TF_HTTP_USERNAME"), Password: b.get("password", "TF_HTTP_PASSWORD"),
	}
	if h.Address == "" {
		return nil, diag.At(b.at, "backend", "the http backend needs an address").
			WithHint("write it into the block or set TF_HTTP_ADDRESS")
	}
	for _, n := range []struct {
		name, variable string
		otherwise      int
		set            func(int)
	}{
		{"retry_max", "TF_HTTP_RETRY_MAX", 2, func(n int) { h.Retries = n }},
		{"retry_wait_min", "TF_HTTP_RETRY_WAIT_MIN", 1, func(n int) { h.WaitMin = time.Duration(n) * time.Second }},
		{"retry_wait_max", "TF_HTTP_RETRY_WAIT_MAX", 30, func(n int) { h.WaitMax = time.Duration(n) * time.Second }},
	} {
		value, err := b.number(n.name, n.variable, n.otherwise)
		if err != nil {
			return nil, err
		}
		n.set(value)
	}
	client, err := httpClient(b)
	h.Client = client
	return h, err
}

// httpClient trusts and presents the certificates that the settings name.
func httpClient(b backend) (*http.Client, error) {
	ca := b.get("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM")
	certificate := b.get("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM")
	key := b.get("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM")
	settings := &tls.Config{MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: b.settings["skip_cert_verification"] == "true"} //nolint:gosec // as the block asks for
	if ca != "" {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, diag.At(b.at, "backend", "client_ca_certificate_pem has no certificate")
		}
	}
	if certificate != "" || key != "" {
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			return nil, diag.At(b.at, "backend", "client_certificate_pem and client_private_key_pem are no pair")
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultClient, nil
	}
	own := transport.Clone()
	own.TLSClientConfig = settings
	return &http.Client{Transport: own}, nil
}
