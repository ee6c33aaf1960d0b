package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/internal/certs/certstest"
)

func authorities() (before, after *certstest.Authority) {
	return certstest.NewAuthority("before"), certstest.NewAuthority("after")
}

// What two looks have found is taken: at the first, the files may still be written.
func TestNewPairIsTaken(t *testing.T) {
	before, after := authorities()
	k := keep(t, before.ForAddress(address))
	k.wantServed("at first", before)
	k.write(after.ForAddress(address))
	k.wantServed("before any look", before)
	k.look(t.Context())
	k.wantServed("after one look", before)
	k.look(t.Context())
	k.wantServed("after two looks", after)
	k.lookTwice()
	if n := k.logged("certificate loaded"); n != 2 {
		t.Errorf("logged %d times that it was loaded; want twice:\n%s", n, k.log)
	}
}

// Files that are replaced one after the other, with looks at any time between.
func TestHalfReplacedPair(t *testing.T) {
	for looks := range 5 {
		before, after := authorities()
		k := keep(t, before.ForAddress(address))
		pair := after.ForAddress(address)
		k.put(k.files.Cert, pair.Cert)
		for range looks {
			k.look(t.Context())
		}
		k.wantServed("half", before)
		// One look may have come between the two; that they stay so is worth a line.
		if want := min(1, looks/2); k.logged("level=ERROR") != want {
			t.Errorf("after %d looks: want %d errors logged:\n%s", looks, want, k.log)
		}
		k.put(k.files.Key, pair.Key)
		k.lookTwice()
		k.wantServed("whole", after)
	}
}

// Kubernetes replaces both files at once, by a link that they lead through.
func TestPairIsReplacedThroughALink(t *testing.T) {
	before, after := authorities()
	k := keep(t, before.ForAddress(address))
	dir := t.TempDir()
	versions := map[string]certstest.Pair{"..1": before.ForAddress(address), "..2": after.ForAddress(address)}
	for name, pair := range versions {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		k.put(filepath.Join(folder, "tls.crt"), pair.Cert)
		k.put(filepath.Join(folder, "tls.key"), pair.Key)
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("..1", "..data")
	link("..data/tls.crt", "tls.crt")
	link("..data/tls.key", "tls.key")
	k.files = Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	k.open()
	k.wantServed("at first", before)
	link("..2", "..data_tmp")
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	k.lookTwice()
	k.wantServed("after the swap", after)
}

// Whatever is wrong is logged once, and the last good pair stays in force until there is a
// good one again, be it the same.
func TestBadPairIsNotTaken(t *testing.T) {
	before, after := authorities()
	pair, other := before.ForAddress(address), after.ForAddress(address)
	large := append(bytes.Repeat([]byte("#\n"), maxFileSize/2), other.Cert...)
	for name, spoil := range map[string]func(k *kept) error{
		"no certificate":     func(k *kept) error { return os.Remove(k.files.Cert) },
		"no key":             func(k *kept) error { return os.Remove(k.files.Key) },
		"empty certificate":  func(k *kept) error { return os.Truncate(k.files.Cert, 0) },
		"half a certificate": func(k *kept) error { return os.Truncate(k.files.Cert, 100) },
		"half a key":         func(k *kept) error { return os.Truncate(k.files.Key, 100) },
		"another key":        func(k *kept) error { return os.WriteFile(k.files.Key, other.Key, 0o600) },
		"files the other way round": func(k *kept) error {
			return certstest.Pair{Cert: other.Key, Key: other.Cert}.Write(k.files.Cert, k.files.Key)
		},
		"too large": func(k *kept) error {
			return certstest.Pair{Cert: large, Key: other.Key}.Write(k.files.Cert, k.files.Key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t, pair)
			if err := spoil(k); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				k.lookTwice()
			}
			k.wantServed("spoilt", before)
			if k.logged("level=ERROR") != 1 || strings.Contains(k.log.String(), "PRIVATE") {
				t.Errorf("logged\n%s", k.log)
			}
			if _, err := Open(t.Context(), k.files, k.Keeper.log, time.Now); err == nil {
				t.Error("a server would start with it")
			}
			k.write(pair)
			k.lookTwice()
			k.write(other)
			k.lookTwice()
			k.wantServed("mended", after)
		})
	}
}

// Another problem with the same file is another line.
func TestEachProblemIsLogged(t *testing.T) {
	before, _ := authorities()
	k := keep(t, before.ForAddress(address))
	for i, change := range []func(string) error{os.Remove, func(path string) error { return os.Mkdir(path, 0o700) }} {
		if err := change(k.files.Cert); err != nil {
			t.Fatal(err)
		}
		k.lookTwice()
		k.lookTwice()
		if k.logged("level=ERROR") != i+1 {
			t.Errorf("problem %d:\n%s", i+1, k.log)
		}
	}
}

func TestExpiredPairIsWarnedOf(t *testing.T) {
	before, _ := authorities()
	k := keep(t, before.ForAddress(address))
	k.write(before.Issue(x509.Certificate{NotAfter: time.Now().Add(-time.Minute)}))
	k.lookTwice()
	if k.logged("level=WARN") != 1 || k.logged("it has expired") != 1 {
		t.Errorf("logged\n%s", k.log)
	}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := authorities()
		k := keep(t, before.ForAddress(address))
		serves := func(by *certstest.Authority) bool {
			_, err := k.current(k.config).Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: by.Pool()})
			return err == nil
		}
		k.write(after.ForAddress(address))
		ctx, stop := context.WithCancel(t.Context())
		k.Follow(ctx)
		time.Sleep(interval / 2)
		for looks := range 4 {
			if got := serves(after); got != (looks >= 2) || got == serves(before) {
				t.Errorf("after %d looks: the new pair is in force: %v", looks, got)
			}
			time.Sleep(interval)
		}
		stop()
		synctest.Wait() // for both of their ends
	})
}

// Handshakes go on while pairs are replaced; each gets a whole one.
func TestHandshakesWhileReplaced(t *testing.T) {
	authority, _ := authorities()
	k := keep(t, authority.ForAddress(address))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			k.write(authority.ForAddress(address))
			k.lookTwice()
		}
	}()
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
			k.wantServed("meanwhile", authority)
		}
	}
}

func TestProtocols(t *testing.T) {
	authority, _ := authorities()
	k := keep(t, authority.ForAddress(address))
	for version, ok := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true,
		tls.VersionTLS13: true} {
		state, err := k.connect(&tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS10, MaxVersion: version,
			NextProtos: []string{"h2"}})
		if ok && (err != nil || state.Version != version || state.NegotiatedProtocol != "h2") {
			t.Errorf("%s: %v, %+v", tls.VersionName(version), err, state)
		}
		if !ok && err == nil {
			t.Errorf("%s is accepted", tls.VersionName(version))
		}
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	_, err := Open(t.Context(), Files{Cert: "nowhere.crt", Key: "nowhere.key"}, nil, nil)
	if _, ok := err.(*fs.PathError); !ok || !strings.Contains(err.Error(), "nowhere.crt") {
		t.Errorf("got %v", err)
	}
}
