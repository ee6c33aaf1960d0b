package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// IsSigned says whether a delivery has the mark of who knows the secret: a signature of the body, or the secret itself
// where the provider signs nothing.
func IsSigned(p Provider, header Header, body, secret []byte) bool {
	if len(secret) == 0 {
		return false
	}
	switch p {
	case GitHub:
		return isHMAC(prefixed(header("X-Hub-Signature-256")), body, secret)
	case Gitea:
		return isHMAC(header("X-Gitea-Signature"), body, secret)
	case Forgejo:
		return isHMAC(either(header("X-Forgejo-Signature"), header("X-Gitea-Signature")), body, secret)
	case Bitbucket:
		return isHMAC(prefixed(header("X-Hub-Signature")), body, secret)
	case Plain:
		return isHMAC(prefixed(header("X-Holdfast-Signature")), body, secret)
	case GitLab:
		return isSame([]byte(header("X-Gitlab-Token")), secret)
	case Azure:
		return isBasic(header("Authorization"), secret)
	}
	return false
}

// prefixed is what stands behind the name of the algorithm; nothing behind another one.
func prefixed(text string) string {
	value, ok := strings.CutPrefix(text, "sha256=")
	if !ok {
		return ""
	}
	return value
}

func isHMAC(signature string, body, secret []byte) bool {
	got, err := hex.DecodeString(signature)
	if err != nil || len(got) != sha256.Size {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

// isSame compares digests, so that the time it takes says nothing of the lengths either.
func isSame(got, want []byte) bool {
	a, b := sha256.Sum256(got), sha256.Sum256(want)
	return hmac.Equal(a[:], b[:])
}

// isBasic finds the secret as the password of any user.
func isBasic(authorization string, secret []byte) bool {
	encoded, ok := strings.CutPrefix(authorization, "Basic ")
	if !ok {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	_, password, _ := strings.Cut(string(raw), ":")
	return isSame([]byte(password), secret)
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
