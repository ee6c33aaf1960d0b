package statefile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the backend's protocol checks the transfer with it
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/internal/outbound"
	"github.com/holdfast/holdfast/internal/pause"
)

// maxState bounds what is read from a server.
const maxState = 512 << 20

// HTTP keeps a state behind the http backend's protocol, such as Holdfast's. What isn't set is as the
// backend's documentation has it.
type HTTP struct {
	Address, LockAddress, UnlockAddress    string
	UpdateMethod, LockMethod, UnlockMethod string
	Username, Password                     string
	Client                                 *http.Client

	// Retries is how often a request is repeated that the server didn't answer, or had no time for.
	Retries          int
	WaitMin, WaitMax time.Duration

	mu   sync.Mutex
	lock string // the ID that this process holds
}

// Read implements Store.
func (h *HTTP) Read(ctx context.Context) (*File, error) {
	status, text, err := h.do(ctx, http.MethodGet, h.Address, "", nil)
	switch {
	case err != nil:
		return nil, diag.Stateful(err, "the state can't be fetched")
	case status == http.StatusNotFound || status == http.StatusNoContent:
		return nil, nil
	case status != http.StatusOK:
		return nil, refused("read", status, text)
	}
	f, err := Parse(text)
	if err != nil {
		return nil, diag.Stateful(err, "the state from the server is damaged, and nothing is done with it").
			WithHint("the server keeps earlier versions: holdfast state versions NAME")
	}
	return f, nil
}

// Write implements Store.
func (h *HTTP) Write(ctx context.Context, f *File) error {
	text, err := f.Bytes()
	if err != nil {
		return diag.Stateful(err, "the state can't be written")
	}
	h.mu.Lock()
	id := h.lock
	h.mu.Unlock()
	status, answer, err := h.do(ctx, cmp.Or(h.UpdateMethod, http.MethodPost), h.Address, id, text)
	if err != nil {
		return diag.Stateful(err, "the state can't be sent")
	}
	if status/100 != 2 {
		return refused("write", status, answer)
	}
	return nil
}

// Lock implements Store.
func (h *HTTP) Lock(ctx context.Context, info LockInfo) (func(context.Context) error, error) {
	body, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	status, text, err := h.do(ctx, cmp.Or(h.LockMethod, "LOCK"), cmp.Or(h.LockAddress, h.Address), "", body)
	var holder LockInfo
	_ = json.Unmarshal(text, &holder)
	switch {
	case err != nil:
		return nil, diag.Stateful(err, "the state can't be locked")
	case (status == http.StatusLocked || status == http.StatusConflict) && holder.ID == info.ID:
		// It is ours: the answer to an earlier try was lost.
	case status == http.StatusLocked || status == http.StatusConflict:
		return nil, &diag.Error{Category: diag.Concurrency, Summary: "the state is locked",
			Detail: fmt.Sprintf("%s has held it for %s, ID %s", holder.Who, holder.Operation, holder.ID)}
	case status != http.StatusOK:
		return nil, refused("lock", status, text)
	}
	h.mu.Lock()
	h.lock = info.ID
	h.mu.Unlock()
	return func(ctx context.Context) error { return h.unlock(ctx, body) }, nil
}

func (h *HTTP) unlock(ctx context.Context, body []byte) error {
	status, text, err := h.do(ctx, cmp.Or(h.UnlockMethod, "UNLOCK"), cmp.Or(h.UnlockAddress, h.Address), "", body)
	if err != nil {
		return diag.Stateful(err, "the state can't be unlocked")
	}
	if status/100 != 2 {
		return refused("unlock", status, text)
	}
	return nil
}

// ForceUnlock implements Store.
func (h *HTTP) ForceUnlock(ctx context.Context, id string) error {
	body, err := json.Marshal(LockInfo{ID: id})
	if err != nil {
		return err
	}
	return h.unlock(ctx, body)
}

// do sends a request, again where nobody answered it or the server had no time.
func (h *HTTP) do(ctx context.Context, method, address, lock string, body []byte) (int, []byte, error) {
	wait := cmp.Or(h.WaitMin, time.Second)
	for attempt := 0; ; attempt++ {
		status, text, err := h.once(ctx, method, address, lock, body)
		again := err != nil || status == http.StatusTooManyRequests ||
			status >= http.StatusInternalServerError && status != http.StatusNotImplemented
		if !again || attempt >= h.Retries || pause.For(ctx, wait) != nil {
			return status, text, err
		}
		oplog.From(ctx, "state").WarnContext(ctx, "the server has no time, and was asked again", "status", status)
		wait = min(2*wait, cmp.Or(h.WaitMax, 30*time.Second))
	}
}

func (h *HTTP) once(ctx context.Context, method, at, lock string, body []byte) (int, []byte, error) {
	address, err := url.Parse(at)
	if err != nil {
		return 0, nil, fmt.Errorf("the address of the backend can't be read")
	}
	if lock != "" {
		query := address.Query()
		query.Set("ID", lock)
		address.RawQuery = query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		sum := md5.Sum(body) //nolint:gosec // see the import
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	if h.Username != "" {
		request.SetBasicAuth(h.Username, h.Password)
	}
	client := h.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, nil, outbound.WithoutAddress(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxState+1))
	if len(text) > maxState {
		return 0, nil, fmt.Errorf("the answer is larger than %d bytes", maxState)
	}
	return answer.StatusCode, text, err
}

func refused(what string, status int, text []byte) error {
	if len(text) > 300 {
		text = text[:300]
	}
	return diag.Stateful(nil, "the server refuses to %s the state: %d %s", what, status, bytes.TrimSpace(text))
}
