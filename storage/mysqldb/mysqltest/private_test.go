package mysqltest

import (
	"os"
	"sync"
	"testing"
)

// TestPrivateServers starts several servers at once: they don't disturb each other, and
// leave nothing behind.
func TestPrivateServers(t *testing.T) {
	if _, ok := lookUp("mariadbd", "mysqld"); !ok && os.Getenv(Required) != "required" {
		t.Skip("there is no server to start")
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			server, err := Start(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if err := server.Exec(t.Context(), "", "CREATE DATABASE x", "CREATE TABLE x.y (id INT)"); err != nil {
				t.Error(err)
			}
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(server.dir); !os.IsNotExist(err) {
				t.Errorf("its directory is left: %v", err)
			}
			if version, err := server.version(t.Context()); err == nil {
				t.Errorf("%s is still running", version)
			}
		})
	}
	wg.Wait()
}

// TestProxyCuts takes the proxy through its ways of cutting.
func TestProxyCuts(t *testing.T) {
	proxy, err := NewProxy(New(t).Address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	}()
	works := func() bool { return proxy.Exec(t.Context(), "", "DO 1") == nil }
	if !works() {
		t.Error("it does not let through")
	}
	proxy.CutAnswer("DO 1")
	if works() || proxy.Pending() {
		t.Error("the answer came through")
	}
	proxy.CutAfter(20)
	if works() || proxy.Pending() {
		t.Error("the request came through")
	}
	proxy.Break()
	if works() {
		t.Error("it lets through while broken")
	}
	proxy.Mend()
	if !works() {
		t.Error("it does not let through again")
	}
}
