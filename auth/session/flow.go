package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Flow is a browser's way to an issuer and back. The browser keeps it meanwhile, in a cookie of its
// own, so that the way back may end at another node.
type Flow struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Org      uuid.UUID `json:"org"`      // that somebody has named; uuid.Nil for none
	To       string    `json:"to"`       // where in the page to go on
	// Had is the session that the browser had when it set out, which Begin ends. Its cookie counts for this
	// server's own pages only: the browser doesn't show it when it comes back.
	Had  Place     `json:"had,omitzero"`
	Ends time.Time `json:"ends"`
}

// FlowTime is how long somebody may take at the issuer.
const FlowTime = 10 * time.Minute

// maxFlow is far above what one takes, and below what a cookie may have.
const maxFlow = 3 << 10

// NewFlow returns one that begins now.
func NewFlow(org uuid.UUID, to string, now time.Time) Flow {
	return Flow{State: randomText(), Nonce: randomText(), Verifier: randomText(), Org: org, To: to,
		Ends: now.Add(FlowTime).UTC()}
}

// randomText has 256 random bits, in the 43 characters that PKCE wants at least.
func randomText() string {
	var secret [32]byte
	rand.Read(secret[:]) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// Seal returns what a browser keeps of a flow. It can read it, and change nothing of it.
func (s *Signer) Seal(f Flow) (string, error) {
	text, err := json.Marshal(f)
	return base64.RawURLEncoding.EncodeToString(append(mac(s.flow, text), text...)), err
}

// Open returns the flow that Seal made a text of, unless that is too long ago; false for any other
// text.
func (s *Signer) Open(sealed string, now time.Time) (f Flow, ok bool) {
	if len(sealed) > maxFlow {
		return Flow{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(raw) <= sha256.Size || !hmac.Equal(raw[:sha256.Size], mac(s.flow, raw[sha256.Size:])) {
		return Flow{}, false
	}
	if err := json.Unmarshal(raw[sha256.Size:], &f); err != nil || !now.Before(f.Ends) {
		return Flow{}, false
	}
	return f, true
}

// Answers reports whether what came back from an issuer belongs to the flow.
func (f Flow) Answers(state string) bool {
	return f.State != "" && hmac.Equal([]byte(state), []byte(f.State))
}

// IsPage reports whether a text is an address below a path of this server's, and of nothing else: no
// browser takes it for one elsewhere.
func IsPage(text, below string) bool {
	return strings.HasPrefix(text, below) && len(text) <= 1024 && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '\\'
	})
}
