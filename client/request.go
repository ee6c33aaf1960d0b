package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/holdfast/holdfast/api"
)

// request is one request. Its query leaves out what is empty.
type request struct {
	method string
	path   string // escaped
	query  map[string]string
	// attributes are part of the query, also those that are to be empty.
	attributes map[string]string
	header     map[string]string
	body       body
	err        error // why it can't be sent
}

// get is a request for what is below base.
func get(path string, query map[string]string) request {
	return request{method: http.MethodGet, path: base + path, query: query}
}

// send sends a request, and again when the server asks for that. Any answer but 2xx is an
// *Error; else the caller closes the body.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := c.once(ctx, r)
		pause := wait(err)
		if pause == 0 || try >= c.options.Tries || r.body.stream != nil {
			return response, err
		}
		c.options.Retrying(err, pause)
		if err := c.options.Pause(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func (c *Client) once(ctx context.Context, r request) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, c.options.Address+r.path+r.queryText(), nil)
	if err != nil {
		return nil, err
	}
	sent.Header.Set("Accept", "application/json")
	if r.body.set(sent) {
		sent.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		if value != "" {
			sent.Header.Set(name, value)
		}
	}
	if c.options.Key != "" {
		sent.SetBasicAuth(c.options.Org.String(), c.options.Key)
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, refusalOf(response)
	}
	return response, nil
}

func (r request) queryText() string {
	values := url.Values{}
	for name, value := range r.query {
		if value != "" {
			values.Set(name, value)
		}
	}
	for name, value := range r.attributes {
		values.Set("attr."+name, value)
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// ask sends a request whose answer is one JSON object, and reads it.
func ask[T any](ctx context.Context, c *Client, r request) (answer T, err error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	return readObject[T](response.Body)
}

func readObject[T any](from io.Reader) (answer T, err error) {
	raw, err := io.ReadAll(from)
	if err != nil {
		return answer, cutOff(err)
	}
	if json.Unmarshal(raw, &answer) != nil {
		return answer, api.ErrForeign
	}
	return answer, nil
}

// open sends a request whose answer is handed on as it comes.
func (c *Client) open(ctx context.Context, r request) (io.ReadCloser, error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	return whole{response.Body}, nil
}

// whole is an answer's body. Reading it fails with ErrCutOff where it broke off.
type whole struct{ io.ReadCloser }

// Read implements io.Reader.
func (w whole) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != io.EOF {
		err = cutOff(err)
	}
	return n, err
}
