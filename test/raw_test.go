//go:build e2e

package test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// answerLimit is how long a server may take to answer an attack, or to hang up on it. It
// is above every timeout of the server, and there to end a test that has found a fault.
const answerLimit = 60 * time.Second

// raw sends the requests in a file as they are, each line ended by CRLF, with $NAME
// replaced and Go's escapes, such as \n and \x00, understood. The statuses are those of all
// the answers, in order.
func raw(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 9); err != nil {
		return err
	}
	last := len(args) - 1
	text, err := unescaped(os.Expand(ts.ReadFile(args[last]), ts.Getenv))
	if err != nil {
		return fmt.Errorf("%s: %w", args[last], err)
	}
	statuses, said, err := rawAnswer(w.server.address, strings.NewReader(text), false)
	if err != nil {
		return err
	}
	if got := fmt.Sprint(statuses); got != fmt.Sprint(args[:last]) {
		return fmt.Errorf("want %s, got %s\n%s", args[:last], got, said)
	}
	_, err = io.WriteString(ts.Stdout(), said)
	return err
}

func unescaped(text string) (string, error) {
	text = strings.NewReplacer(`"`, `\"`, "\n", `\r\n`).Replace(text)
	return strconv.Unquote(`"` + text + `"`)
}

// rawAnswer sends bytes as they are, and returns the status of each answer and all that
// the server said until it hung up. It may do so while bytes are still being sent. With
// cut, the sender breaks off behind them; a request that is whole must ask to be the last,
// because the server takes a client that breaks off for one that left.
func rawAnswer(address string, request io.Reader, cut bool) (statuses []int, said string, err error) {
	conn, err := net.DialTimeout("tcp", address, answerLimit)
	if err != nil {
		return nil, "", err
	}
	_ = conn.SetDeadline(time.Now().Add(answerLimit))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(conn, request)
		if cut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	statuses, said, err = readAnswers(conn)
	conn.Close()
	<-sent
	return statuses, said, err
}

// readAnswers wants whole answers, and then the end of the connection.
func readAnswers(conn net.Conn) (statuses []int, said string, err error) {
	var all strings.Builder
	reader := bufio.NewReader(io.TeeReader(conn, &all))
	for {
		_, err := reader.Peek(1)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return statuses, all.String(), fmt.Errorf("the server neither answers nor hangs up within %s", answerLimit)
		}
		if err != nil { // closed or reset
			return statuses, all.String(), nil
		}
		answer, err := http.ReadResponse(reader, nil)
		if err == nil {
			statuses = append(statuses, answer.StatusCode)
			_, err = io.Copy(io.Discard, answer.Body)
		}
		if err != nil {
			return statuses, all.String(), fmt.Errorf("%w in %.300q", err, all.String())
		}
	}
}
