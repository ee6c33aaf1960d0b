//go:build e2e

package test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"
)

// socketTime is how long a stream may take.
const socketTime = 3 * time.Minute

// stream reads a project's stream as the organization that acts, and shows its messages, one in a line. It breaks the
// connection off behind so many pieces of the log, or behind the message of a status; else the stream has to end.
func stream(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 2); err != nil {
		return err
	}
	until := ""
	if len(args) == 2 {
		until = args[1]
	}
	ctx, stop := context.WithTimeout(context.Background(), socketTime)
	defer stop()
	basic := base64.StdEncoding.EncodeToString([]byte(ts.Getenv("ORG") + ":" + ts.Getenv("TF_HTTP_PASSWORD")))
	conn, _, err := websocket.Dial(ctx, ts.Getenv("SERVER")+args[0],
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Basic " + basic}}})
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(16 << 20)
	return messages(ctx, ts, conn, until)
}

func messages(ctx context.Context, ts *testscript.TestScript, conn *websocket.Conn, until string) error {
	most, err := strconv.Atoi(until)
	if err != nil {
		most = -1
	}
	for pieces := 0; ; {
		_, raw, err := conn.Read(ctx)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure && until == "" {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the stream ends before %q: %w", until, err)
		}
		var said struct {
			Type, Data string
			Run        struct{ Status string }
		}
		if err := json.Unmarshal(raw, &said); err != nil {
			return err
		}
		fmt.Fprintf(ts.Stdout(), "%s\n%s", raw, said.Data)
		if said.Type == "log" {
			pieces++
		}
		switch {
		case said.Type == "error":
			return errors.New(strings.TrimSpace(string(raw)))
		case pieces == most, said.Run.Status != "" && said.Run.Status == until:
			return nil
		}
	}
}
