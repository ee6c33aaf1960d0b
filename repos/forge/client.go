package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// client sends requests to one forge.
type client struct {
	provider    Provider
	base        *url.URL // of the API, without a slash at its end
	http        *http.Client
	credentials credentials
	accept      string // what answers are asked for
	now         func() time.Time
}

// credentials put themselves into requests.
type credentials interface {
	sign(ctx context.Context, to *http.Request) error
	// secrets are the texts that nobody may read.
	secrets() []string
	// refused tells them that the forge did not take them.
	refused()
}

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 16 << 20

// callTime is how long a forge may take for one answer.
const callTime = 30 * time.Second

// newHTTP returns a client that follows no redirect to another host: it would be given the credentials.
func newHTTP(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: callTime,
		CheckRedirect: func(to *http.Request, before []*http.Request) error {
			from := before[len(before)-1].URL
			if to.URL.Scheme != from.Scheme || to.URL.Host != from.Host {
				return errors.New("it sends requests on to another host")
			}
			if len(before) > 3 {
				return errors.New("it sends requests on and on")
			}
			return nil
		},
	}
}

// get reads an answer into out, and returns its headers.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) (http.Header, error) {
	return c.call(ctx, http.MethodGet, c.address(path, query), nil, out)
}

// send has a forge do something.
func (c *client) send(ctx context.Context, method, path string, in, out any) error {
	_, err := c.call(ctx, method, c.address(path, nil), in, out)
	return err
}

// address is where a path of the API is. Its parts are escaped already: some have escaped slashes.
func (c *client) address(path string, query url.Values) string {
	address := c.base.String() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

func (c *client) call(ctx context.Context, method, address string, in, out any) (http.Header, error) {
	response, err := c.roundTrip(ctx, method, address, in)
	if err != nil {
		return nil, c.unanswered(outbound.WithoutAddress(err))
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unanswered(outbound.WithoutAddress(err))
	case len(body) > maxAnswer:
		return nil, c.unlike("an answer has more than %d bytes", maxAnswer)
	case response.StatusCode == http.StatusUnauthorized:
		defer c.credentials.refused() // behind the error, which may have to leave them out
		return nil, c.refusal(response, body)
	case response.StatusCode/100 != 2:
		return nil, c.refusal(response, body)
	case out == nil || len(bytes.TrimSpace(body)) == 0:
		return response.Header, nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return nil, c.unlike("an answer is not what it should be: %v", err)
	}
	return response.Header, nil
}

func (c *client) roundTrip(ctx context.Context, method, address string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", c.accept)
	request.Header.Set("User-Agent", "holdfast")
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if err := c.credentials.sign(ctx, request); err != nil {
		return nil, err
	}
	return c.http.Do(request)
}

// maxPages is how many pages of a list are read.
const maxPages = 40

// next is a function of how one page leads to the next: its address, empty behind the last.
type next[T any] func(header http.Header, page T) (address string, err error)

// pages reads a list page by page. more is true where the list goes on behind what is read.
func pages[T any](ctx context.Context, c *client, path string, query url.Values, follow next[T],
	each func(T)) (more bool, err error) {
	address := c.address(path, query)
	for range maxPages {
		var page T
		header, err := c.call(ctx, http.MethodGet, address, nil, &page)
		if err != nil {
			return false, err
		}
		each(page)
		following, err := follow(header, page)
		if err != nil || following == "" {
			return false, err
		}
		if address, err = c.within(following); err != nil {
			return false, err
		}
	}
	return true, nil
}

// within is an address that the forge gave, if it is one of its API: another one would be sent the
// credentials.
func (c *client) within(address string) (string, error) {
	u, err := c.base.Parse(address)
	if err != nil || u.Scheme != c.base.Scheme || u.Host != c.base.Host ||
		!strings.HasPrefix(u.EscapedPath(), c.base.EscapedPath()+"/") {
		return "", c.unlike("a list leads out of the API")
	}
	return u.String(), nil
}

// linked follows the header Link, which GitHub, GitLab and Gitea send.
func linked[T any](h http.Header, _ T) (string, error) {
	for part := range strings.SplitSeq(strings.Join(h.Values("Link"), ","), ",") {
		target, attributes, _ := strings.Cut(part, ";")
		target = strings.TrimSpace(target)
		if strings.Contains(attributes, `rel="next"`) && strings.HasPrefix(target, "<") && strings.HasSuffix(target, ">") {
			return target[1 : len(target)-1], nil
		}
	}
	return "", nil
}

// id is a number as it stands in addresses.
func id(n int64) string { return fmt.Sprintf("%d", n) }

// isCommit reports whether a text is a whole commit's name.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
