package heads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

// patience is how long one sending may take.
const patience = 15 * time.Second

// File appends lines to a file, and has them on the disk. It is opened for each sending, so that it may be moved away.
type File string

// Send implements Sink.
func (path File) Send(_ context.Context, lines [][]byte) (err error) {
	f, err := os.OpenFile(string(path), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write heads of the audit log: %w", err)
	}
	text := bytes.Join(lines, nil)
	if path.cutOff() {
		text = append([]byte("\n"), text...)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write heads of the audit log: %w", err)
	}
	return nil
}

// cutOff reports whether the last line has no end, as when the disk was full: what is appended to it could not be read.
func (path File) cutOff() bool {
	f, err := os.Open(string(path))
	if err != nil {
		return false // one that can only be written to
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Webhook posts lines to an address, which acknowledges them with a status of 2xx. It follows no redirects.
type Webhook struct {
	Address string
	client  *http.Client
}

// NewWebhook returns a webhook.
func NewWebhook(address string) *Webhook {
	return &Webhook{address, &http.Client{Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Send implements Sink. The address may have a secret in it, and so is in no error.
func (w *Webhook) Send(ctx context.Context, lines [][]byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Address, bytes.NewReader(bytes.Join(lines, nil)))
	if err != nil {
		return errors.New("post heads of the audit log: the address is none")
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	answer, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("post heads of the audit log: %w", outbound.WithoutAddress(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("post heads of the audit log: it answers %d", answer.StatusCode)
	}
	return nil
}

// Syslog sends each line as a message of RFC 5424, of the facility "log audit" and the severity "notice". Over UDP, and
// to a socket, nobody acknowledges.
type Syslog struct {
	network, address, host string
}

// NewSyslog takes udp://host:514, tcp://host:601 or unix:///dev/log.
func NewSyslog(address string) (Syslog, error) {
	u, err := url.Parse(address)
	host, _ := os.Hostname()
	if host == "" {
		host = "-"
	}
	switch {
	case err != nil:
	case (u.Scheme == "udp" || u.Scheme == "tcp") && u.Port() != "" && u.Path == "":
		return Syslog{u.Scheme, u.Host, host}, nil
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		return Syslog{"unixgram", u.Path, host}, nil
	}
	return Syslog{}, errors.New("is none of udp://host:514, tcp://host:601 and unix:///dev/log")
}

// auditNotice is 8 times the facility 13, "log audit", and the severity 5.
const auditNotice = 8*13 + 5

// Send implements Sink.
func (s Syslog) Send(ctx context.Context, lines [][]byte) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, s.network, s.address)
	if err != nil {
		return fmt.Errorf("send heads of the audit log to syslog: %w", err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	for _, line := range lines {
		message := fmt.Sprintf("<%d>1 %s %s holdfast %d audit-head - %s", auditNotice, time.Now().UTC().Format(time.RFC3339),
			s.host, os.Getpid(), bytes.TrimSpace(line))
		if s.network == "tcp" { // RFC 6587: the length goes before it
			message = fmt.Sprintf("%d %s", len(message), message)
		}
		if _, err = conn.Write([]byte(message)); err != nil {
			break
		}
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("send heads of the audit log to syslog: %w", err)
	}
	return nil
}
