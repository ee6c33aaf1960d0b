package hook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/repos/hook"
)

const secret = "s3cret-of-the-hook"

func sum(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// signed has the headers by which each provider shows that it knows the secret.
func signed(p hook.Provider, body string) http.Header {
	h := http.Header{}
	switch p {
	case hook.GitHub:
		h.Set("X-Hub-Signature-256", "sha256="+sum(body))
	case hook.Gitea:
		h.Set("X-Gitea-Signature", sum(body))
	case hook.Forgejo:
		h.Set("X-Forgejo-Signature", sum(body))
	case hook.Bitbucket:
		h.Set("X-Hub-Signature", "sha256="+sum(body))
	case hook.Plain:
		h.Set("X-Holdfast-Signature", "sha256="+sum(body))
	case hook.GitLab:
		h.Set("X-Gitlab-Token", secret)
	case hook.Azure:
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("holdfast:"+secret)))
	}
	return h
}

// TestSigned: a delivery counts with its own provider's mark, and with nothing else.
func TestSigned(t *testing.T) {
	const body = `{"ref":"refs/heads/main"}`
	for _, p := range hook.Providers() {
		good := signed(p, body)
		if !hook.IsSigned(p, good.Get, []byte(body), []byte(secret)) {
			t.Errorf("%s: a good delivery is refused", p)
		}
		if hook.IsSigned(p, good.Get, []byte(body), nil) || hook.IsSigned(p, good.Get, []byte(body), []byte("other")) {
			t.Errorf("%s: a delivery counts with another secret", p)
		}
		if hook.IsSigned(p, http.Header{}.Get, []byte(body), []byte(secret)) {
			t.Errorf("%s: a delivery without any mark counts", p)
		}
		if p != hook.GitLab && p != hook.Azure && hook.IsSigned(p, good.Get, []byte(body+" "), []byte(secret)) {
			t.Errorf("%s: a changed body counts", p)
		}
		for name, values := range good {
			for _, wrong := range []string{"", "sha256=", "sha1=" + sum(body), strings.ToUpper(values[0]) + "0", "Basic !",
				"Basic",
				"sha256=" + strings.Repeat("0", 64), strings.Repeat("0", 64)} {
				if hook.IsSigned(p, http.Header{name: {wrong}}.Get, []byte(body), []byte(secret)) {
					t.Errorf("%s: %s: %q counts", p, name, wrong)
				}
			}
		}
		for _, other := range hook.Providers() {
			h := signed(other, body)
			same := p == hook.Forgejo && other == hook.Gitea // as Forgejo sends both
			if other != p && !same && hook.IsSigned(p, h.Get, []byte(body), []byte(secret)) {
				t.Errorf("%s: the mark of %s counts", p, other)
			}
		}
	}
}
