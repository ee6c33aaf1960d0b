package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The bounds of what an issuer may answer.
const (
	fetchTimeout  = 5 * time.Second // for both documents together
	maxHeader     = 64 << 10
	maxDiscovery  = 256 << 10
	maxKeySetText = 512 << 10
)

// How long keys count without being asked for again: as long as the issuer's
// Cache-Control says, within bounds.
const (
	minFresh     = time.Minute
	defaultFresh = 10 * time.Minute
	maxFresh     = time.Hour
)

// discovery is what is read of an issuer's OpenID configuration.
type discovery struct {
	Issuer  string `json:"issuer"`
	KeysURL string `json:"jwks_uri"`
}

// newClient returns a client that goes where it is told and nowhere else.
func newClient(transport *http.Transport) *http.Client {
	transport = transport.Clone()
	transport.MaxResponseHeaderBytes = maxHeader
	transport.MaxIdleConnsPerHost = 1
	transport.MaxIdleConns = 16
	transport.IdleConnTimeout = 30 * time.Second
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fetchKeys asks an issuer for its keys, and for how long they are fresh.
func fetchKeys(ctx context.Context, client *http.Client, issuer string) (keySet, time.Duration, error) {
	text, _, err := get(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", maxDiscovery)
	if err != nil {
		return nil, 0, err
	}
	var found discovery
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, 0, errors.New("the OpenID configuration is not JSON")
	}
	if err := found.check(issuer); err != nil {
		return nil, 0, err
	}
	text, header, err := get(ctx, client, found.KeysURL, maxKeySetText)
	if err != nil {
		return nil, 0, err
	}
	keys, err := readKeySet(text)
	return keys, freshFor(header), err
}

// check refuses keys of somebody else. They must be where the issuer is, or its answer
// could send us to any address in our network.
func (d discovery) check(issuer string) error {
	if d.Issuer != issuer {
		return fmt.Errorf("the OpenID configuration is that of %.200q", d.Issuer)
	}
	own, err := url.Parse(issuer)
	if err != nil {
		return err
	}
	keys, err := url.Parse(d.KeysURL)
	if err != nil || keys.User != nil || keys.Scheme != own.Scheme || keys.Host != own.Host {
		return fmt.Errorf("the issuer's keys are not at %s://%s", own.Scheme, own.Host)
	}
	return nil
}

// get returns the body, of at most limit bytes, of an answer 200. Redirects are refused:
// whoever could redirect could answer in the issuer's stead.
func get(ctx context.Context, client *http.Client, address string, limit int64) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s answered %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", address, err)
	}
	if int64(len(text)) > limit {
		return nil, nil, fmt.Errorf("%s answered more than %d bytes", address, limit)
	}
	return text, answer.Header, nil
}

// freshFor reads Cache-Control.
func freshFor(header http.Header) time.Duration {
	for part := range strings.SplitSeq(strings.Join(header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		switch name {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			return freshSeconds(value)
		}
	}
	return defaultFresh
}

func freshSeconds(text string) time.Duration {
	seconds, err := strconv.ParseUint(strings.Trim(text, `"`), 10, 31)
	if err != nil {
		return defaultFresh
	}
	return min(max(time.Duration(seconds)*time.Second, minFresh), maxFresh)
}
