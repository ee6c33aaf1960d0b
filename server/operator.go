package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
)

// The paths that commands on the server's own machine ask for.
const (
	// OperatorOrganizations answers with the organizations that have uploads, one in a line.
	OperatorOrganizations = "/organizations"
	// OperatorRecords answers with the records of the organization that the query's org names, as
	// JSON lines. An answer that breaks off is cut off, so that nobody takes it for all.
	OperatorRecords = "/records"
)

// OperatorSocket is where a server with these settings answers commands that work on its stores: it
// has them to itself as long as it runs. The folder is its owner's alone, and so is what is asked
// there; see OperatorClient.
func OperatorSocket(settings configs.Settings) string {
	return filepath.Join(settings.Storage.Path, "operator", "socket")
}

// HoldsUploads reports whether a server with these settings keeps others from its uploads.
func HoldsUploads(settings configs.Settings) bool {
	return settings.Storage.Type == configs.CSV || settings.Storage.Type == configs.Dual
}

// openOperator answers at the OperatorSocket until it is closed. The server goes on without, if
// that can't be had: its path may be too long for a socket.
func openOperator(settings configs.Settings, uploads inventory.Store, moves *mover, log *slog.Logger) io.Closer {
	if !HoldsUploads(settings) && !storage.UsesFolder(settings) {
		return io.NopCloser(nil)
	}
	path := OperatorSocket(settings)
	listener, secret, err := listenPrivately(path)
	if err != nil {
		log.Warn("exports and moves from this machine have to wait until the server is stopped", "socket", path, "error", err)
		return io.NopCloser(nil)
	}
	mux := http.NewServeMux()
	if moves != nil {
		moves.routes(mux)
	}
	mux.HandleFunc("GET "+OperatorOrganizations, func(w http.ResponseWriter, r *http.Request) {
		sendOrganizations(r.Context(), w, uploads)
	})
	mux.HandleFunc("GET "+OperatorRecords, func(w http.ResponseWriter, r *http.Request) {
		org, err := uuid.Parse(r.URL.Query().Get("org"))
		if err != nil {
			http.Error(w, "org is not a UUID", http.StatusBadRequest)
			return
		}
		sendRecords(r.Context(), w, uploads, org)
	})
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: showing(secret, oneOfFew(mux)), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("answering exports from this machine", "error", err)
		}
	}()
	return &operator{server, cancel}
}

// operator is what answers commands on the server's own machine.
type operator struct {
	server *http.Server
	cancel context.CancelFunc
}

// operatorPatience is how long an answer may take to end once it is told to.
const operatorPatience = 2 * time.Second

// Close ends the answers that have begun, and waits for them: the store that they read is closed next.
func (o *operator) Close() error {
	o.cancel()
	ctx, stop := context.WithTimeout(context.Background(), operatorPatience)
	defer stop()
	if err := o.server.Shutdown(ctx); err != nil {
		return o.server.Close() // of those who read nothing of what they asked for
	}
	return nil
}

// listenPrivately listens in a folder that is made for it, and returns what is to be shown there. What a server has
// left there that was killed is removed: only who holds the stores gets here.
func listenPrivately(path string) (_ net.Listener, secret string, err error) {
	if err := makeOwnFolder(filepath.Dir(path)); err != nil {
		return nil, "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if secret, err = makeOperatorSecret(path); err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", err
	}
	return ownPeers{listener}, secret, nil
}

// makeOwnFolder makes a folder that nobody else gets into. One that is there has to be the server's
// own, and no link to somewhere else.
func makeOwnFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOwnFile(info) {
		return fmt.Errorf("%s is not a folder of the server's own user", dir)
	}
	return os.Chmod(dir, 0o700)
}

// ownPeers hangs up on processes of other users, where the system can tell, in case the folder was
// opened to them.
type ownPeers struct{ net.Listener }

// Accept implements net.Listener.
func (l ownPeers) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || isOwnPeer(conn) {
			return conn, err
		}
		_ = conn.Close()
	}
}

// operatorAnswers is how many answers are given at once; others wait. Each has one record in memory
// and a buffer.
const operatorAnswers = 4

// oneOfFew has no more than operatorAnswers at once.
func oneOfFew(next http.Handler) http.Handler {
	places := make(chan struct{}, operatorAnswers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-places }()
		next.ServeHTTP(w, r)
	})
}

func sendOrganizations(ctx context.Context, w io.Writer, uploads inventory.Store) {
	for org, err := range uploads.Organizations(ctx) {
		if err == nil {
			_, err = io.WriteString(w, org.String()+"\n")
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the only way to say that this is not all
		}
	}
}

func sendRecords(ctx context.Context, w io.Writer, uploads inventory.Store, org uuid.UUID) {
	out, line := bufio.NewWriterSize(w, 1<<16), []byte{}
	for record, err := range uploads.Records(ctx, org, inventory.Query{}) {
		if err == nil {
			line = append(record.AppendJSON(line[:0]), '\n')
			_, err = out.Write(line)
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if out.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}
