package oidctest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
)

// flow is what an issuer remembers of somebody whom it has sent back with a code.
type flow struct {
	client, redirect, challenge, nonce string
	claims                             Claims
}

// SignsIn makes the issuer sign everybody in who is sent to it, as whom these claims say; their aud
// and nonce it sets itself. Nil has it refuse them.
func (i *Issuer) SignsIn(person Claims) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.person = person
}

// authorize sends a browser back, with a code or with an error, as one does to whom somebody has
// just shown a password.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	back, err := url.Parse(asked.Get("redirect_uri"))
	if err != nil || asked.Get("response_type") != "code" || asked.Get("code_challenge_method") != "S256" ||
		asked.Get("code_challenge") == "" || asked.Get("state") == "" {
		http.Error(w, "not a request for a code, with PKCE and a state", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {asked.Get("state")}, "iss": {i.URL}}
	if i.person == nil {
		answer.Set("error", "access_denied")
	} else {
		code := rand.Text()
		if i.flows == nil {
			i.flows = map[string]flow{}
		}
		i.flows[code] = flow{asked.Get("client_id"), asked.Get("redirect_uri"), asked.Get("code_challenge"),
			asked.Get("nonce"), i.person}
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token trades a code, once, for an ID token that the issuer's first key signs.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	client, _, ok := r.BasicAuth()
	if !ok {
		client = r.PostFormValue("client_id")
	}
	code := r.PostFormValue("code")
	f, ok := i.flows[code]
	delete(i.flows, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if !ok || f.client != client || f.redirect != r.PostFormValue("redirect_uri") ||
		f.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || len(i.keys) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
		return
	}
	claims := f.claims
	if claims["aud"] == nil {
		claims = claims.With("aud", f.client)
	}
	if claims["nonce"] == nil {
		claims = claims.With("nonce", f.nonce)
	}
	signed, err := i.keys[0].sign(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300, "id_token": signed,
	})
}
