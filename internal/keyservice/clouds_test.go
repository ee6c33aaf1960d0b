package keyservice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/seal"
)

// echo answers by what it is asked for: the shape is the service's, and what it wraps is what it was given.
type echo func(r *http.Request, in map[string]string) (status int, out map[string]string)

// ServeHTTP implements http.Handler.
func (e echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	in := map[string]string{}
	if len(body) > 0 && json.Unmarshal(body, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	status, out := e(r, in)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

// wantKeeps has a key wrapped, unwrapped and wrapped anew.
func wantKeeps(t *testing.T, k seal.Keeper) {
	t.Helper()
	key := bytes.Repeat([]byte{250}, 32)
	wrapped, err := k.Wrap(t.Context(), key)
	if err != nil || strings.ContainsAny(wrapped, " \n") {
		t.Fatalf("%q, %v", wrapped, err)
	}
	again, err := k.Rewrap(t.Context(), wrapped)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{wrapped, again} {
		if got, err := k.Unwrap(t.Context(), one); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%x, %v", got, err)
		}
	}
}

func TestAWS(t *testing.T) {
	const arn = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd"
	at, ca := served(t, echo(func(r *http.Request, in map[string]string) (int, map[string]string) {
		if !strings.Contains(r.Header.Get("Authorization"), "AKID/") ||
			!strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/kms/aws4_request") {
			return 400, map[string]string{"__type": "IncompleteSignatureException"}
		}
		switch r.Header.Get("X-Amz-Target") {
		case "TrentService.Encrypt":
			return 200, map[string]string{"KeyId": in["KeyId"], "CiphertextBlob": in["Plaintext"]}
		case "TrentService.Decrypt":
			return 200, map[string]string{"KeyId": arn, "Plaintext": in["CiphertextBlob"]}
		case "TrentService.ReEncrypt":
			return 200, map[string]string{"KeyId": in["DestinationKeyId"], "CiphertextBlob": in["CiphertextBlob"]}
		}
		return 400, map[string]string{"__type": "UnknownOperationException"}
	}))
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush"}
	k, err := New(Options{Service: AWS, Key: arn, Address: at, CAFile: ca,
		Getenv: func(n string) string { return env[n] }})
	if err != nil {
		t.Fatal(err)
	}
	wantKeeps(t, k)
	env["AWS_ACCESS_KEY_ID"] = "other"
	if _, err := k.Wrap(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "IncompleteSignature") ||
		strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

func TestGoogle(t *testing.T) {
	const name = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
	var tokens int
	at, ca := served(t, echo(func(r *http.Request, in map[string]string) (int, map[string]string) {
		if r.Header.Get("Authorization") != "Bearer ya29" {
			return 401, nil
		}
		switch r.URL.Path {
		case "/v1/" + name + ":encrypt":
			return 200, map[string]string{"name": name, "ciphertext": in["plaintext"]}
		case "/v1/" + name + ":decrypt":
			return 200, map[string]string{"plaintext": in["ciphertext"]}
		}
		return 404, nil
	}))
	k, err := New(Options{Service: Google, Key: name, Address: at, CAFile: ca, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	machine, _ := served(t, echo(func(r *http.Request, _ map[string]string) (int, map[string]string) {
		tokens++
		if r.Header.Get("Metadata-Flavor") != "Google" {
			return 403, nil
		}
		return 200, map[string]string{"access_token": "ya29"}
	}))
	k.(*googleKMS).tokens = machine
	transport := k.(*googleKMS).client.Transport.(*http.Transport)
	transport.TLSClientConfig.InsecureSkipVerify = true // the machine's certificate is another one
	wantKeeps(t, k)
	if tokens == 0 {
		t.Error("the machine was not asked who it is")
	}
}

func TestAzure(t *testing.T) {
	at, ca := served(t, echo(func(r *http.Request, in map[string]string) (int, map[string]string) {
		if strings.HasPrefix(r.URL.Path, "/metadata/") {
			return 200, map[string]string{"access_token": "eyJ"}
		}
		if r.Header.Get("Authorization") != "Bearer eyJ" || r.URL.Query().Get("api-version") == "" ||
			in["alg"] != azureAlgorithm {
			return 401, nil
		}
		switch r.URL.Path {
		case "/keys/holdfast/wrapkey", "/keys/holdfast/v7/unwrapkey":
			return 200, map[string]string{"kid": "https://a.vault.azure.net/keys/holdfast/v7", "value": in["value"]}
		}
		return 404, nil
	}))
	k, err := New(Options{Service: Azure, Key: at + "/keys/holdfast", Address: at, CAFile: ca, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	wantKeeps(t, k)
}

// The machine's identity is asked for without the proxy by which the service is reached.
func TestMachineIsNotAskedThroughAProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		fmt.Fprint(to, `{"access_token":"the proxy's"}`)
	}))
	t.Cleanup(proxy.Close)
	machine := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		fmt.Fprint(to, `{"access_token":"the machine's"}`)
	}))
	t.Cleanup(machine.Close)
	through, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: besideMachine(http.ProxyURL(through))}}
	for _, header := range []string{"Metadata", "Metadata-Flavor"} {
		token, err := newAsker(client, "a service").bearer(t.Context(), "", machine.URL, header, "true")
		if err != nil || token != "the machine's" {
			t.Errorf("%s: %q, %v", header, token, err)
		}
	}
	answer, err := client.Get(machine.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); !strings.Contains(string(text), "the proxy's") {
		t.Errorf("the service is not reached through the proxy: %s", text)
	}
}
