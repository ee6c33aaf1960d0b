package lfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// Config says where a repository's files are.
type Config struct {
	URL         string // of the repository: http or https
	User, Token string // empty for none
	Allowed     []netip.Prefix
	AllowHTTP   bool
	CAFile      string        // authorities that are trusted beside the system's
	Timeout     time.Duration // for one file
}

// Client downloads files. It is safe for concurrent use.
type Client struct {
	config Config
	http   *http.Client
}

const (
	mediaType = "application/vnd.git-lfs+json"
	maxAnswer = 1 << 20
	maxMoves  = 3
)

// New returns a client. The error is of the file of certificates.
func New(c Config) (*Client, error) {
	roots, err := outbound.Roots(c.CAFile)
	if err != nil {
		return nil, err
	}
	client := &Client{config: c}
	client.http = &http.Client{Transport: outbound.Transport(c.Allowed, roots), Timeout: c.Timeout,
		CheckRedirect: client.mayMove}
	return client, nil
}

// Close leaves no connection open.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// mayMove lets a download be where the server has moved it, and a question, which has the token, be nowhere else.
func (c *Client) mayMove(to *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > maxMoves || !c.isAllowed(to.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

func (c *Client) isAllowed(u *url.URL) bool {
	return u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && c.config.AllowHTTP)
}

// File is what is to be downloaded.
type File struct {
	Digest string // SHA-256, in hexadecimal
	Size   int64
}

// Download writes a file. It fails where what comes is not the file. Errors have no token and no address of a file.
func (c *Client) Download(ctx context.Context, f File, to io.Writer) error {
	where, err := c.ask(ctx, f)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.Href, nil)
	if err != nil || !c.isAllowed(request.URL) {
		return errors.New("the server says that the file is at an address that is not allowed")
	}
	for name, value := range where.Header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return outbound.WithoutAddress(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the file was answered with %d", response.StatusCode)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(response.Body, f.Size+1))
	switch {
	case err != nil:
		return outbound.WithoutAddress(err)
	case n != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.Digest:
		return errors.New("what came is not the file that the pointer names")
	}
	return nil
}

// action is where a file is.
type action struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

type object struct {
	OID     string `json:"oid"`
	Size    int64  `json:"size"`
	Actions struct {
		Download *action `json:"download"`
	} `json:"actions"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// ask asks the repository's server where a file is.
func (c *Client) ask(ctx context.Context, f File) (action, error) {
	body, err := json.Marshal(map[string]any{"operation": "download", "transfers": []string{"basic"},
		"hash_algo": "sha256", "objects": []map[string]any{{"oid": f.Digest, "size": f.Size}}})
	if err != nil {
		return action{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint(c.config.URL), bytes.NewReader(body))
	if err != nil {
		return action{}, errors.New("the repository has no address that files are asked for at")
	}
	request.Header.Set("Accept", mediaType)
	request.Header.Set("Content-Type", mediaType)
	if c.config.Token != "" {
		request.SetBasicAuth(c.config.User, c.config.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return action{}, outbound.WithoutAddress(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return action{}, &StatusError{response.StatusCode}
	}
	var answer struct {
		Objects []object `json:"objects"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer); err != nil {
		return action{}, errors.New("the server's answer is none of Git LFS")
	}
	for _, o := range answer.Objects {
		switch {
		case o.OID != f.Digest:
		case o.Error != nil:
			return action{}, &StatusError{o.Error.Code}
		case o.Actions.Download != nil:
			return *o.Actions.Download, nil
		}
	}
	return action{}, errors.New("the server doesn't say where the file is")
}

// StatusError is an answer that is no file.
type StatusError struct{ Status int }

// Error implements error.
func (e *StatusError) Error() string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the server of Git LFS wants other credentials (%d)", e.Status)
	case http.StatusNotFound, http.StatusGone:
		return fmt.Sprintf("the server of Git LFS has no such file (%d)", e.Status)
	}
	return fmt.Sprintf("the server of Git LFS answers with %d", e.Status)
}

// endpoint is where files are asked for, as the specification has it for a repository's address.
func endpoint(repository string) string {
	return strings.TrimSuffix(strings.TrimRight(repository, "/"), ".git") + ".git/info/lfs/objects/batch"
}
