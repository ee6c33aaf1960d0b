package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Web asks a server with credentials of its own. It follows no redirect: one could lead them
// elsewhere.
type Web struct {
	// User and Password are for HTTP Basic; nothing is sent without a password.
	User, Password string
	// Header has what else is sent, such as a token.
	Header map[string]string
	client *http.Client
}

// requestTime bounds one request: states are large, and servers slow.
const requestTime = 10 * time.Minute

// statusError is an answer that is no success.
type statusError struct {
	status int
	what   string
	header http.Header
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: HTTP %d", e.what, e.status) }

// statusOf returns the status of an answer that was refused; 0 for anything else.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*statusError](err); ok {
		return refused.status
	}
	return 0
}

func (w *Web) do(request *http.Request) (*http.Response, error) {
	if w.client == nil {
		w.client = &http.Client{Timeout: requestTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if w.Password != "" {
		request.SetBasicAuth(w.User, w.Password)
	}
	for name, value := range w.Header {
		request.Header.Set(name, value)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		response.Body.Close()
		return nil, &statusError{response.StatusCode, request.Method + " " + shownAddress(request.URL), response.Header}
	}
	return response, nil
}

// shownAddress leaves out what may be a secret.
func shownAddress(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// get returns the body of an answer and its header, which one that was refused has too; nothing of a 204.
func (w *Web) get(ctx context.Context, address string) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	response, err := w.do(request)
	if refused, ok := errors.AsType[*statusError](err); ok {
		return nil, refused.header, err
	}
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := readAll(response.Body)
	return body, response.Header, err
}

// HTTP has one state, at the address that an http backend has it.
type HTTP struct {
	Web
	Address string
}

// About implements Source.
func (h *HTTP) About() string {
	u, err := url.Parse(h.Address)
	if err != nil {
		return "an http server"
	}
	return shownAddress(u)
}

// List implements Source: its one state has no name there.
func (h *HTTP) List(context.Context) ([]string, error) { return []string{""}, nil }

// Versions implements Source: such a server keeps the newest only.
func (h *HTTP) Versions(ctx context.Context, _ string) iter.Seq2[Version, error] {
	body, header, err := h.get(ctx, h.Address)
	if statusOf(err) == http.StatusNotFound || err == nil && len(body) == 0 {
		err = ErrNone
	}
	return func(yield func(Version, error) bool) { yield(Version{At: modified(header), Body: body}, err) }
}

// modified returns when what a header describes was written; zero where it doesn't say.
func modified(header http.Header) time.Time {
	at, _ := http.ParseTime(header.Get("Last-Modified"))
	return at
}
