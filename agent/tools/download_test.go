package tools_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

const (
	tofuRelease = "/opentofu/v1.12.6/tofu_1.12.6"
	tofuArchive = tofuRelease + "_" + platform + ".zip"
	tofuSums    = tofuRelease + "_SHA256SUMS"
)

func TestDownload(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	m.offerTerraform("1.5.7")
	for _, c := range []struct {
		name          tools.Name
		version, text string
	}{{tools.OpenTofu, "1.12.6", tofu("1.12.6")}, {tools.Terraform, "1.5.7", terraform("1.5.7")}} {
		tool, err := m.store.Download(t.Context(), c.name, c.version)
		must(t, err)
		isProgram(t, tool.Path, c.text)
		if tool.Source != tools.FromDownload || !strings.HasSuffix(tool.Origin, "_"+platform+".zip") {
			t.Errorf("downloaded %+v", tool)
		}
		_, err = m.store.Open(t.Context(), c.name, c.version)
		must(t, err)
		if _, err := m.store.Download(t.Context(), c.name, c.version); err != nil || m.count(tofuArchive) != 1 {
			t.Errorf("once more: %v, asked for %d times", err, m.count(tofuArchive))
		}
	}
}

// Whatever is wrong with a release, nothing of it can be found afterwards.
func TestDownloadRefuses(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(m *mirror)
		code  fault.Code
	}{
		"a wrong signature": {func(m *mirror) {
			m.put(tofuSums+".gpgsig",
				signature(m.t, newKey(m.t), string(m.files[tofuSums])))
		}, fault.ToolUntrusted},
		"a signature of something else": {func(m *mirror) { m.put(tofuSums+".gpgsig", signature(m.t, m.key, "other")) },
			fault.ToolUntrusted},
		"a signature that is none": {func(m *mirror) { m.put(tofuSums+".gpgsig", []byte("signed, yours")) },
			fault.ToolUntrusted},
		"no signature": {func(m *mirror) { delete(m.files, tofuSums+".gpgsig") }, fault.ToolUnavailable},
		"a checksum added later": {func(m *mirror) { m.put(tofuSums, append(m.files[tofuSums], '\n')) },
			fault.ToolUntrusted},
		"a missing checksum line": {func(m *mirror) {
			m.sign(tofuSums, ".gpgsig", strings.Repeat("0", 64)+
				"  other.zip\n")
		}, fault.ToolUntrusted},
		"two checksums": {func(m *mirror) {
			m.sign(tofuSums, ".gpgsig", string(m.files[tofuSums])+strings.Repeat("0", 64)+"  "+filepath.Base(tofuArchive)+"\n")
		}, fault.ToolUntrusted},
		"a checksum that is none": {func(m *mirror) { m.sign(tofuSums, ".gpgsig", "beef  "+filepath.Base(tofuArchive)+"\n") },
			fault.ToolUntrusted},
		"another archive": {func(m *mirror) { m.put(tofuArchive, zipped(m.t, entry{name: "tofu", text: "evil"})) },
			fault.ToolUntrusted},
		"no archive":      {func(m *mirror) { delete(m.files, tofuArchive) }, fault.ToolUnavailable},
		"no such version": {func(m *mirror) { clear(m.files) }, fault.ToolUnavailable},
		"large sums":      {func(m *mirror) { m.put(tofuSums, make([]byte, 2<<20)) }, fault.ToolUntrusted},
		"no zip": {func(m *mirror) { m.offer(tofuRelease, ".gpgsig", []byte("no zip")) },
			fault.ToolUntrusted},
		"a way out": {func(m *mirror) {
			m.offerEntries(entry{name: "tofu", text: tofu("1.12.6")}, entry{name: "../../evil", text: "x"})
		}, fault.ToolUntrusted},
		"an absolute path": {func(m *mirror) {
			m.offerEntries(entry{name: "tofu", text: tofu("1.12.6")}, entry{name: "/etc/evil", text: "x"})
		}, fault.ToolUntrusted},
		"a path of Windows": {func(m *mirror) {
			m.offerEntries(entry{name: "tofu", text: tofu("1.12.6")}, entry{name: `..\evil`, text: "x"})
		}, fault.ToolUntrusted},
		"a link": {func(m *mirror) { m.offerEntries(entry{name: "tofu", text: "/bin/sh", mode: fs.ModeSymlink | 0o777}) },
			fault.ToolUntrusted},
		"a folder": {func(m *mirror) { m.offerEntries(entry{name: "tofu/"}) }, fault.ToolUntrusted},
		"two programs": {func(m *mirror) {
			m.offerEntries(entry{name: "tofu", text: tofu("1.12.6")}, entry{name: "tofu", text: tofu("1.12.6")})
		}, fault.ToolUntrusted},
		"no program": {func(m *mirror) { m.offerEntries(entry{name: "bin/tofu", text: tofu("1.12.6")}) },
			fault.ToolUntrusted},
		"many entries": {func(m *mirror) { m.offerEntries(make([]entry, 101)...) }, fault.ToolUntrusted},
		"another version's program": {func(m *mirror) { m.offerEntries(entry{name: "tofu", text: tofu("1.12.5")}) },
			fault.ToolMismatch},
		"another tool's program": {func(m *mirror) { m.offerEntries(entry{name: "tofu", text: terraform("1.12.6")}) },
			fault.ToolMismatch},
		"a bomb that says so": {func(m *mirror) { m.offer(tofuRelease, ".gpgsig", bomb(m.t, 2<<30)) },
			fault.ToolUntrusted},
		"a bomb that does not": {func(m *mirror) { m.offer(tofuRelease, ".gpgsig", bomb(m.t, 100)) },
			fault.ToolUntrusted},
	} {
		t.Run(what, func(t *testing.T) {
			m := newMirror(t)
			m.offerTofu("1.12.6")
			c.spoil(m)
			_, err := m.store.Download(t.Context(), tools.OpenTofu, "1.12.6")
			wantFault(t, err, c.code)
			nothingAt(t, m.store, m.root)
		})
	}
}

func (m *mirror) offerEntries(entries ...entry) {
	m.offer(tofuRelease, ".gpgsig", zipped(m.t, entries...))
}

// bomb is an archive whose program says that it is of this size, and is 16 MiB of zeros.
func bomb(t *testing.T, says uint32) []byte {
	t.Helper()
	archive := zipped(t, entry{name: "tofu", text: strings.Repeat("\x00", 16<<20)})
	directory := bytes.LastIndex(archive, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(archive[directory+24:], says)
	return archive
}

func TestDownloadNeedsLeave(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	_, err := tools.New(tools.Settings{Root: m.root}).Download(t.Context(), tools.OpenTofu, "1.12.6")
	wantFault(t, err, fault.ToolUnavailable)
	_, err = m.store.Download(t.Context(), tools.Terragrunt, "0.55.1")
	wantFault(t, err, fault.ToolUnavailable)
	empty := filepath.Join(t.TempDir(), "keys")
	must(t, os.WriteFile(empty, nil, 0o600))
	for _, keys := range []string{"", filepath.Join(t.TempDir(), "none"), empty, os.Args[0]} {
		_, err = m.open("http://127.0.0.1:1", keys).Download(t.Context(), tools.OpenTofu, "1.12.6")
		wantFault(t, err, fault.ToolUntrusted) // before anything is asked for
	}
	_, err = m.open("http://127.0.0.1:1", m.keyFile).Download(t.Context(), tools.OpenTofu, "1.12.6")
	wantFault(t, err, fault.ToolMirrorUnavailable)
	nothingAt(t, m.store, m.root)
}

// Several who want the same version, in this process and in another, download it once.
func TestDownloadsAreOne(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	another := m.open(server.URL, m.keyFile)
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	m.before = func(path string) {
		if path == tofuArchive {
			arrived <- struct{}{}
			<-release
		}
	}
	var all sync.WaitGroup
	download := func(s *tools.Store) {
		all.Go(func() {
			if _, err := s.Download(context.WithoutCancel(t.Context()), tools.OpenTofu, "1.12.6"); err != nil {
				t.Error(err)
			}
		})
	}
	download(m.store)
	<-arrived
	for _, s := range []*tools.Store{m.store, m.store, another, another} {
		download(s)
	}
	close(release)
	all.Wait()
	if n := m.count(tofuArchive); n != 1 {
		t.Errorf("the archive was asked for %d times", n)
	}
}

// A download that breaks off leaves nothing, and neither does one that somebody ends.
func TestDownloadBreaksOff(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".zip") {
			m.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("PK"))
	}))
	t.Cleanup(broken.Close)
	_, err := m.open(broken.URL, m.keyFile).Download(t.Context(), tools.OpenTofu, "1.12.6")
	wantFault(t, err, fault.ToolMirrorUnavailable)
	nothingAt(t, m.store, m.root)

	ctx, cancel := context.WithCancel(t.Context())
	m.before = func(path string) {
		if path == tofuArchive {
			cancel()
		}
	}
	if _, err = m.store.Download(ctx, tools.OpenTofu, "1.12.6"); fault.From(err).Code != fault.Interrupted {
		t.Errorf("ended: %v", err)
	}
	nothingAt(t, m.store, m.root)
	m.before = nil
	_, err = m.store.Download(t.Context(), tools.OpenTofu, "1.12.6")
	must(t, err)
}

// What a process that died left in the staging folder is gone after the next one.
func TestDownloadAfterCrash(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	staging := filepath.Join(m.root, ".staging", "opentofu_1.12.6_"+platform)
	must(t, os.MkdirAll(filepath.Join(staging, "ready"), 0o755))
	must(t, os.WriteFile(filepath.Join(staging, "tofu"), []byte("half"), 0o555))
	must(t, os.WriteFile(filepath.Join(staging, "archive.zip"), []byte("half"), 0o600))
	_, err := m.store.Download(t.Context(), tools.OpenTofu, "1.12.6")
	must(t, err)
	if _, err := os.Stat(staging); !os.IsNotExist(err) {
		t.Errorf("the staging folder: %v", err)
	}
}

func TestResolveDownloads(t *testing.T) {
	m := newMirror(t)
	m.offerTofu("1.12.6")
	m.offerTofu("1.11.0")
	m.offerTerraform("1.5.7")
	for _, c := range []struct {
		want  tools.Want
		found string
	}{
		{tools.Want{Tool: tools.OpenTofu, Constraint: "< 1.12"}, "1.11.0"},
		{tools.Want{Tool: tools.OpenTofu}, "1.11.0"}, // it is there by now
		{tools.Want{Tool: tools.OpenTofu, Constraint: "> 1.11"}, "1.12.6"},
		{tools.Want{Tool: tools.Terraform}, "1.5.7"},
	} {
		if got, err := m.store.Resolve(t.Context(), c.want); err != nil || got.Tool.Version != c.found {
			t.Errorf("%+v: %s, %v; want %s", c.want, got.Tool.Version, err, c.found)
		}
	}
	_, err := m.store.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu, Constraint: "> 2"})
	wantFault(t, err, fault.ToolUnavailable)
	m.put("/opentofu.json", []byte("<html>"))
	_, err = m.store.Resolve(t.Context(), tools.Want{Tool: tools.OpenTofu, Constraint: "> 2"})
	wantFault(t, err, fault.ToolMirrorUnavailable)
}
