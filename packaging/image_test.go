package packaging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// imageUser is who the image's program runs as.
const imageUser = 65532

// images are those of a tool that needs no daemon: buildah, which separates what it runs by chroot.
type images struct {
	t       *testing.T
	storage []string // the flags that say where it keeps them
}

func newImages(t *testing.T) images {
	if _, err := exec.LookPath("buildah"); err != nil || os.Getuid() != 0 {
		t.Skip("there is no buildah, or this is not root, without which it can't run what it builds")
	}
	dir := t.TempDir()
	return images{t, []string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "root"), "--runroot",
		filepath.Join(dir, "run")}}
}

func (i images) command(args ...string) *exec.Cmd {
	return exec.Command("buildah", slices.Concat(i.storage, args)...)
}

func (i images) must(args ...string) string {
	i.t.Helper()
	out, err := i.command(args...).Output()
	if err != nil {
		i.t.Fatalf("buildah %v: %v\n%s", args, err, stderrOf(err))
	}
	return strings.TrimSpace(string(out))
}

func stderrOf(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.Stderr
	}
	return nil
}

// build makes the image by the script that `make docker` runs, and returns a container of it, and the
// digests of what is in the image. The rest of it has the name of the machine that built it.
func (i images) build(name string) (container, layers string) {
	i.t.Helper()
	builder := append([]string{"buildah"}, i.storage...)
	cmd := exec.Command("../scripts/image.sh", version, name)
	cmd.Env = append(os.Environ(), "BUILDER="+
		strings.Join(append(builder, "build", "--isolation", "chroot", "--format", "docker", "--timestamp", "0"), " "))
	if out, err := cmd.CombinedOutput(); err != nil {
		i.t.Fatalf("%v\n%s", err, out)
	}
	return i.must("from", "--pull-never", name),
		i.must("inspect", "--type", "image", "--format", "{{.OCIv1.RootFS.DiffIDs}}", name)
}

func TestImage(t *testing.T) {
	i := newImages(t)
	container, layers := i.build("holdfast:one")
	t.Run("says what it is", func(t *testing.T) { i.wantLabels(t, "holdfast:one") })
	t.Run("has nothing else in it", func(t *testing.T) { wantInImage(t, i.must("mount", container)) })
	t.Run("serves as docs/installing.md has it", func(t *testing.T) { i.wantServes(t, container) })
	t.Run("again", func(t *testing.T) {
		if _, again := i.build("holdfast:two"); again != layers {
			t.Errorf("building it again gives %s, want %s", again, layers)
		}
	})
}

// TestDockerBuild builds the image as `docker build .` does, in a fresh clone, by the Dockerfile's own stages. Images
// of Node and Go are made of this machine's programs: what is fetched from elsewhere is npm's and Go's modules alone.
func TestDockerBuild(t *testing.T) {
	i := newImages(t)
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "--quiet", "..", clone).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dockerfile := read(t, filepath.Join(clone, "Dockerfile"))
	bases := regexp.MustCompile(`(?m)^FROM (docker\.io\S+) AS `).FindAllSubmatch(dockerfile, -1)
	if len(bases) != 2 {
		t.Fatalf("the stages stand on %q", bases)
	}
	wanted := regexp.MustCompile(`(?m)^go ([0-9]+\.[0-9]+)`).FindSubmatch(read(t, "../go.mod"))[1]
	if !strings.HasSuffix(string(bases[1][1]), "golang:"+string(wanted)) {
		t.Errorf("go.mod wants Go %s, and the program is built in %s", wanted, bases[1][1])
	}
	args := []string{"build", "--isolation", "chroot", "--pull-never", "--format", "docker", "--build-arg",
		"VERSION=" + version, "-t", "holdfast:stages", "-v", "/usr:/usr:ro", "-v", "/etc:/etc:ro"}
	config := []string{"config", "--env", "PATH=" + os.Getenv("PATH"), "--env", "HOME=/tmp"}
	for _, name := range []string{"GOMODCACHE", "GOCACHE"} {
		folder, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		at := strings.TrimSpace(string(folder))
		config, args = append(config, "--env", name+"="+at), append(args, "-v", at+":"+at)
	}
	for _, base := range bases {
		container := i.must("from", "scratch")
		root := i.must("mount", container)
		for _, folder := range []string{"usr", "etc", "tmp", "dev", "proc", "sys", "run", "var"} {
			if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
			if err := os.Symlink("usr/"+link, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		i.must(append(config, container)...)
		i.must("commit", "--quiet", container, string(base[1]))
	}
	i.must(append(args, clone)...)
	container := i.must("from", "--pull-never", "holdfast:stages")
	t.Run("has nothing else in it", func(t *testing.T) { wantInImage(t, i.must("mount", container)) })
	t.Run("serves as docs/installing.md has it", func(t *testing.T) { i.wantServes(t, container) })
}

func (i images) wantLabels(t *testing.T, image string) {
	var made struct {
		Docker struct {
			Config struct {
				User         string
				Labels       map[string]string
				Entrypoint   []string
				Cmd          []string
				Volumes      map[string]any
				ExposedPorts map[string]any
				Healthcheck  struct{ Test []string }
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(i.must("inspect", "--type", "image", image)), &made); err != nil {
		t.Fatal(err)
	}
	config, labels := made.Docker.Config, made.Docker.Config.Labels
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	if labels["org.opencontainers.image.version"] != version ||
		labels["org.opencontainers.image.revision"] != strings.TrimSpace(string(head)) {
		t.Errorf("the labels are %v", labels)
	}
	if _, err := time.Parse(time.RFC3339, labels["org.opencontainers.image.created"]); err != nil {
		t.Error(err)
	}
	if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/holdfast"}) ||
		!slices.Equal(config.Cmd, []string{"serve"}) ||
		config.Volumes["/data"] == nil || config.ExposedPorts["7777/tcp"] == nil ||
		!slices.Equal(config.Healthcheck.Test, []string{"CMD", "/holdfast", "health"}) {
		t.Errorf("the image is %+v", config)
	}
}

func wantInImage(t *testing.T, root string) {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files = append(files, strings.TrimPrefix(path, root))
		return nil
	})
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/holdfast"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("it has %v, %v; want %v", files, err, want)
	}
	for path, want := range map[string]struct {
		owner uint32
		mode  fs.FileMode
	}{"/data": {imageUser, 0o700}, "/holdfast": {0, 0o755}} {
		info, err := os.Stat(root + path)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != want.owner || info.Mode().Perm() != want.mode {
			t.Errorf("%s is user %d's, with mode %o", path, owner, info.Mode().Perm())
		}
	}
}

// wantServes starts the server with a folder of auth.cfg: once as `init` leaves it, which the image's user can't open,
// and once after the chown that the page shows. Then it asks for the page, and makes a key.
func (i images) wantServes(t *testing.T, container string) {
	dir := t.TempDir()
	etc, data := filepath.Join(dir, "etc"), filepath.Join(dir, "data")
	for _, folder := range []string{etc, data} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := exec.Command(i.must("mount", container)+"/holdfast", "init", "--auth-file", filepath.Join(etc, "auth.cfg"),
		"--json")
	program.Dir = dir
	shown, err := program.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderrOf(err))
	}
	var made struct{ Organization, Key string }
	if err := json.Unmarshal(shown, &made); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil { // init's own; a volume has the image's owner
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	chown(t, data)
	port := freePort(t)
	var log bytes.Buffer
	if err := i.serve(container, etc, data, port, &log).Run(); err == nil || !strings.Contains(log.String(), "auth.cfg") {
		t.Errorf("with an auth.cfg of another user: %v\n%s", err, &log)
	}
	chown(t, etc)
	log.Reset()
	server := i.serve(container, etc, data, port, &log)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("the server said\n%s", &log)
		}
	})
	wantWhoami(t, "http://127.0.0.1:"+port+"/api/v1/whoami", made.Organization, made.Key)
	if status, page := answered(t, "http://127.0.0.1:"+port+"/ui/"); status != http.StatusOK {
		t.Errorf("the page is %d %.200s", status, page)
	}
	request, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:"+port+"/api/v1/keys",
		strings.NewReader(`{"role":"reader"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(made.Organization, made.Key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Errorf("a key can't be made: %s", response.Status)
	}
	i.must("run", "--isolation", "chroot", "--env", "PORT="+port, container, "--", "/holdfast", "health")
}

func (i images) serve(container, etc, data, port string, log io.Writer) *exec.Cmd {
	cmd := i.command("run", "--isolation", "chroot", "--env", "HOST=127.0.0.1", "--env", "PORT="+port,
		"--volume", etc+":/etc/holdfast", "--volume", data+":/data", container, "--", "/holdfast", "serve")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func chown(t *testing.T, folder string) {
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, imageUser, imageUser)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// answered asks until somebody answers.
func answered(t *testing.T, address string) (status int, body []byte) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(address)
		if err != nil {
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			continue
		}
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, body
	}
}

// wantWhoami asks until somebody answers.
func wantWhoami(t *testing.T, address, organization, key string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		request, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth(organization, key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			continue
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK ||
			!regexp.MustCompile(fmt.Sprintf("%q", organization)).Match(body) {
			t.Errorf("%s: %s, %v", response.Status, body, err)
		}
		return
	}
}
