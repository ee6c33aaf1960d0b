// Package packaging has what turns the program into archives and packages, and tests of them.
package packaging

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/blakesmith/ar"
	"github.com/sassoftware/go-rpmutils"
)

const version = "v1.2.3"

// release builds what is released for Linux on this processor, and returns the folder and what
// the names of its files begin with.
func release(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command("../scripts/packages.sh", version, dir, "linux/"+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, filepath.Join(dir, "holdfast_"+version[1:]+"_linux_"+runtime.GOARCH)
}

func TestRelease(t *testing.T) {
	dir, name := release(t)
	t.Run("sums", func(t *testing.T) { wantSums(t, dir) })
	t.Run("archive", func(t *testing.T) { wantArchive(t, name+".tar.gz") })
	t.Run("deb", func(t *testing.T) { wantDeb(t, name+".deb") })
	t.Run("rpm", func(t *testing.T) { wantRPM(t, name+".rpm") })
	t.Run("sbom", func(t *testing.T) { wantParts(t, name) })
	t.Run("again", func(t *testing.T) {
		again, _ := release(t)
		first, second := read(t, filepath.Join(dir, "SHA256SUMS")), read(t, filepath.Join(again, "SHA256SUMS"))
		// A .rpm has the name of the machine that built it and the time.
		if want, got := withoutRPM(first), withoutRPM(second); got != want {
			t.Errorf("building it again gives\n%swant\n%s", got, want)
		}
	})
}

func withoutRPM(sums []byte) string {
	lines := slices.DeleteFunc(strings.SplitAfter(string(sums), "\n"),
		func(line string) bool { return strings.HasSuffix(line, ".rpm\n") })
	return strings.Join(lines, "")
}

// wantSums holds every file to SHA256SUMS, and SHA256SUMS to every file.
func wantSums(t *testing.T, dir string) {
	summed := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(dir, "SHA256SUMS")))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		summed[name] = sum
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, entry := range entries {
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(dir, entry.Name())))); entry.Name() != "SHA256SUMS" &&
			got != summed[entry.Name()] {
			t.Errorf("%s: the digest is %s, and SHA256SUMS has %q", entry.Name(), got, summed[entry.Name()])
		}
	}
}

// file is one in an archive.
type file struct {
	mode    int64
	owner   int
	content []byte
}

// unpack reads a compressed tar archive.
func unpack(t *testing.T, packed io.Reader) map[string]file {
	t.Helper()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			files[strings.TrimPrefix(header.Name, ".")] = file{header.Mode, header.Uid, content}
		}
	}
}

func wantArchive(t *testing.T, path string) {
	top := strings.TrimSuffix(filepath.Base(path), ".tar.gz")
	files := unpack(t, bytes.NewReader(read(t, path)))
	program := filepath.Join(t.TempDir(), "holdfast")
	if err := os.WriteFile(program, files[top+"/holdfast"].content, 0o700); err != nil {
		t.Fatal(err)
	}
	// Nothing calls this method. It is in programs that call methods by names: of those the linker leaves none out.
	if bytes.Contains(files[top+"/holdfast"].content, []byte("reflect.Value.Methods\x00")) {
		t.Error("the program has all methods there are: something calls methods by their names, as text/template does")
	}
	if out, err := exec.Command(program, "--version").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), version) {
		t.Errorf("its version is %s, %v", out, err)
	}
	wantPage(t, program)
	wantLinks(t, files, top)
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md", "auth.cfg.example",
		"configs/holdfast.cfg.example", "docs/installing.md", "man/holdfast.1", "man/holdfast-state-backend.1",
		"completion/holdfast.bash", "completion/_holdfast",
		"completion/holdfast.fish"} {
		if len(files[top+"/"+name].content) == 0 {
			t.Errorf("it has no %s", name)
		}
	}
	for name, f := range files {
		if f.owner != 0 || f.mode&0o022 != 0 {
			t.Errorf("%s: owner %d, mode %o", name, f.owner, f.mode)
		}
	}
}

// wantPage asks a server of the released program for the page.
func wantPage(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOST=127.0.0.1")
		return cmd
	}
	if out, err := run("init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	port := freePort(t)
	server := run("serve", "--port", port)
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()
	status, body := answered(t, "http://127.0.0.1:"+port+"/ui/")
	if status != http.StatusOK || !bytes.Contains(body, []byte("<html")) {
		t.Errorf("the page is %d %.200s\n%s", status, body, &log)
	}
}

// wantLinks has what links of pages lead to among the files.
func wantLinks(t *testing.T, files map[string]file, top string) {
	t.Helper()
	folders := map[string]bool{}
	for name := range files {
		for ; name != "."; name = path.Dir(name) {
			folders[name] = true
		}
	}
	links := 0
	for name, f := range files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s#:]+)(#[^)\s]*)?\)`).FindAllSubmatch(f.content, -1) {
			links++
			if to := path.Join(path.Dir(name), string(link[1])); !folders[to] {
				t.Errorf("%s: %s leads nowhere", strings.TrimPrefix(name, top+"/"), link[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("there are %d links", links)
	}
}

// installed is what each package puts into its place, with its mode.
func installed() map[string]int64 {
	return map[string]int64{
		"/usr/bin/holdfast":                                  0o755,
		"/etc/holdfast/holdfast.cfg":                         0o644,
		"/usr/lib/systemd/system/holdfast.service":           0o644,
		"/usr/lib/sysusers.d/holdfast.conf":                  0o644,
		"/usr/lib/tmpfiles.d/holdfast.conf":                  0o644,
		"/usr/share/man/man1/holdfast-serve.1.gz":            0o644,
		"/usr/share/bash-completion/completions/holdfast":    0o644,
		"/usr/share/zsh/site-functions/_holdfast":            0o644,
		"/usr/share/fish/vendor_completions.d/holdfast.fish": 0o644,
		"/usr/share/doc/holdfast/copyright":                  0o644,
		"/usr/share/doc/holdfast/README.md":                  0o644,
		"/usr/share/doc/holdfast/docs/installing.md":         0o644,
	}
}

func wantDeb(t *testing.T, path string) {
	parts := map[string][]byte{}
	for archive := ar.NewReader(bytes.NewReader(read(t, path))); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if parts[strings.TrimSuffix(header.Name, "/")], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
	control := unpack(t, bytes.NewReader(parts["control.tar.gz"]))
	for _, want := range []string{"Package: holdfast\n", "Version: 1.2.3\n", "Recommends: bubblewrap, git\n",
		"Architecture: " + runtime.GOARCH + "\n"} {
		if text := control["/control"].content; !bytes.Contains(text, []byte(want)) {
			t.Errorf("control has no %q:\n%s", want, text)
		}
	}
	if got := string(control["/conffiles"].content); got != "/etc/holdfast/holdfast.cfg\n" {
		t.Errorf("settings that stay as people change them: %q", got)
	}
	data := unpack(t, bytes.NewReader(parts["data.tar.gz"]))
	for name, mode := range installed() {
		if f, ok := data[name]; !ok || f.mode != mode || f.owner != 0 {
			t.Errorf("%s: there %t, mode %o, owner %d", name, ok, f.mode, f.owner)
		}
	}
	if _, ok := data["/etc/holdfast/auth.cfg"]; ok {
		t.Error("it has keys of somebody")
	}
}

func wantRPM(t *testing.T, path string) {
	rpm, err := rpmutils.ReadRpm(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	name, err := rpm.Header.GetNEVRA()
	if err != nil || name.Name != "holdfast" || name.Version != "1.2.3" {
		t.Errorf("it is %v, %v", name, err)
	}
	files, err := rpm.Header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	left := installed()
	for _, f := range files {
		if mode, wanted := left[f.Name()]; wanted && int64(f.Mode()&0o777) == mode && f.UserName() == "root" {
			delete(left, f.Name())
		}
	}
	if len(left) > 0 {
		t.Errorf("these are not in it, or not as they should be: %v", left)
	}
}

// wantParts compares what is said of the binary with what the binary says.
func wantParts(t *testing.T, name string) {
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(read(t, name+".cdx.json")),
		cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	top := filepath.Base(name)
	program := unpack(t, bytes.NewReader(read(t, name+".tar.gz")))[top+"/holdfast"].content
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std@" + info.GoVersion}
	for _, module := range info.Deps {
		want = append(want, module.Path+"@"+module.Version)
	}
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.Name+"@"+c.Version)
	}
	if !slices.Equal(got, want) || bom.Metadata.Component.Version != version {
		t.Errorf("it is %s of\n%q\nwant\n%q", bom.Metadata.Component.Version, got, want)
	}
}

// settingsOf are the settings of a systemd unit's section, each with its last value.
func settingsOf(t *testing.T, path, section string) map[string]string {
	t.Helper()
	settings, in := map[string]string{}, false
	for lines := bufio.NewScanner(bytes.NewReader(read(t, path))); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			in = line == "["+section+"]"
		}
		if name, value, ok := strings.Cut(line, "="); ok && in && !strings.HasPrefix(line, "#") {
			settings[name] = value
		}
	}
	return settings
}

// `holdfast init` comes before the first start, and may make no folder below /etc or /var/lib: the
// package has those that the settings name.
func TestFoldersAreThereForInit(t *testing.T) {
	made := map[string]string{}
	for line := range strings.Lines(string(read(t, "systemd/holdfast.tmpfiles"))) {
		if f := strings.Fields(line); f[0] == "d" {
			made[f[1]] = strings.Join(f[2:5], " ")
		}
	}
	data := settingsOf(t, "holdfast.cfg", "storage")["path "]
	keys := filepath.Dir(strings.TrimSpace(settingsOf(t, "holdfast.cfg", "auth")["file "]))
	for folder, want := range map[string]string{strings.TrimSpace(data): "0700 holdfast holdfast",
		keys: "0750 holdfast holdfast"} {
		if made[folder] != want {
			t.Errorf("the folder %q is made as %q, want %q", folder, made[folder], want)
		}
	}
}

// An image without systemd, such as a pipeline's, gets the command line.
func TestInstallsWithoutSystemd(t *testing.T) {
	cmd := exec.Command("/bin/sh", "postinstall.sh", "configure")
	cmd.Env = []string{"PATH=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// What the server writes is where the unit lets it: `POST /api/v1/keys` edits auth.cfg.
func TestUnitMayWriteWhatTheServerWrites(t *testing.T) {
	unit := settingsOf(t, "systemd/holdfast.service", "Service")
	may := append(strings.Fields(unit["ReadWritePaths"]), "/var/lib/"+unit["StateDirectory"])
	for _, folder := range []string{
		strings.TrimSpace(settingsOf(t, "holdfast.cfg", "storage")["path "]),
		filepath.Dir(strings.TrimSpace(settingsOf(t, "holdfast.cfg", "auth")["file "])),
	} {
		if !slices.Contains(may, folder) {
			t.Errorf("the unit may not write %q, only %q", folder, may)
		}
	}
}

// What keeps a server that was broken into from the rest of the machine, and runs from their end.
func TestUnit(t *testing.T) {
	got := settingsOf(t, "systemd/holdfast.service", "Service")
	for name, want := range map[string]string{
		"User": "holdfast", "Type": "notify", "KillMode": "process", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "",
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "UMask": "0077", "StateDirectoryMode": "0700",
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("there is no systemd-analyze here: the unit's exposure was not looked at")
		return
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=30",
		"systemd/holdfast.service").CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("Unknown")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Without Node, and without a page that was built before, nothing is released: the program would have no page.
func TestNothingIsReleasedWithoutThePage(t *testing.T) {
	top, bin := t.TempDir(), t.TempDir()
	for _, name := range []string{"dirname", "find", "head"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(top, "scripts", "page.sh")
	if err := os.WriteFile(script, read(t, "../scripts/page.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for how, fails := range map[string]bool{"needed": true, "": false} {
		cmd := exec.Command("/bin/sh", script, how)
		cmd.Env = []string{"PATH=" + bin}
		out, err := cmd.CombinedOutput()
		if (err != nil) != fails || !bytes.Contains(out, []byte("node is missing")) {
			t.Errorf("%q: %v\n%s", how, err, out)
		}
	}
}
