//go:build unix

package server

import (
	"context"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
)

// noUploads is a store of uploads that has none.
type noUploads struct{ inventory.Store }

func (noUploads) Organizations(context.Context) iter.Seq2[uuid.UUID, error] {
	return func(func(uuid.UUID, error) bool) {}
}

// Vulnerability: a command of a run is closed in by Landlock alone, which closes files and no sockets that have a path,
// and it is of the server's own user.
// Scenario: a plan connects to the socket at which commands of the operator have everything exported, or moved.
// Check: who connects has to show what is in a file beside it, and is told nothing else.
func TestOperatorsShowWhatOnlyTheyCanRead(t *testing.T) {
	settings := configs.Settings{Storage: configs.Storage{Type: configs.CSV, Path: t.TempDir()}}
	closer := openOperator(settings, noUploads{}, nil, slog.New(slog.DiscardHandler))
	defer closer.Close()
	socket := OperatorSocket(settings)
	plain := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	ask := func(client *http.Client, shown string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://holdfast"+OperatorOrganizations, nil)
		if err != nil {
			t.Fatal(err)
		}
		if shown != "" {
			request.Header.Set("Authorization", shown)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for _, shown := range []string{"", "Bearer ", "Bearer x", "x"} {
		if got := ask(plain, shown); got != http.StatusForbidden {
			t.Errorf("who shows %q is answered with %d", shown, got)
		}
	}
	if got := ask(OperatorClient(socket), ""); got != http.StatusOK {
		t.Errorf("an operator is answered with %d", got)
	}
	secret := filepath.Join(filepath.Dir(socket), "secret")
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	before, _ := os.ReadFile(secret)
	_ = closer.Close()
	again := openOperator(settings, noUploads{}, nil, slog.New(slog.DiscardHandler))
	defer again.Close()
	if after, _ := os.ReadFile(secret); string(after) == string(before) || len(after) < 32 {
		t.Error("the next server has the same secret")
	}
}
