package gitmirror_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/repos/gitmirror"
)

// TestAddresses: what could be an option, another protocol, a command or a secret is no address.
func TestAddresses(t *testing.T) {
	for _, url := range []string{
		"", "--upload-pack=touch /tmp/x", "-oProxyCommand=x", "ext::sh -c touch% /tmp/x", "file:///etc", "/etc", "../x",
		"git://example.com/x", "http://example.com/x", "ftp::http://example.com/x", "fd::17", "https://",
		"https://example.com",
		"https://example.com/", "https://-oX/x", "ssh://-oProxyCommand=x/x", "ssh://git@-oProxyCommand=x/x", "-x@host:path",
		"ssh://host/path", "ssh://git@host/-x", "git@host:-x", "git@host:", "@host:x", "git@:x", "https://u:p@example.com/x",
		"https://u@example.com/x", "https://example.com/x?token=y", "https://example.com/x#y", "https://example.com/a/../b",
		"https://example.com/a b", "https://example.com/a\nb", "https://example.com/a%0ab", "https://example.com/a%2e%2e/b",
		"https://example.com/$(x)", "https://example.com/`x`", "https://exa mple.com/x", "https://example.com:0/x",
		"https://example.com:99999/x", "https://example.com\\x/y", "ssh://git@host/x'y",
		"https://example.com/" + strings.Repeat("x", 1100),
	} {
		_, err := gitmirror.ParseURL(url, false)
		if gitmirror.KindOf(err) != gitmirror.AddressInvalid {
			t.Errorf("%q: %v", url, err)
		}
	}
	for url, want := range map[string]string{
		"https://Example.com/org/x.git":                 "https://example.com/org/x.git",
		"https://example.com:8443/x":                    "https://example.com:8443/x",
		"https://[2001:db8::1]:8443/x":                  "https://[2001:db8::1]:8443/x",
		"ssh://git@example.com:2222/x.git":              "ssh://git@example.com:2222/x.git",
		"git@example.com:org/x.git":                     "ssh://git@example.com/org/x.git",
		"https://dev.azure.com/org/My%20Team/_git/x":    "https://dev.azure.com/org/My%20Team/_git/x",
		"https://example.com/~ada/x":                    "https://example.com/~ada/x",
		"git@ssh.dev.azure.com:v3/org/My-Team/x":        "ssh://git@ssh.dev.azure.com/v3/org/My-Team/x",
		"https://bitbucket.example.com/scm/infra/x.git": "https://bitbucket.example.com/scm/infra/x.git",
	} {
		r, err := gitmirror.ParseURL(url, false)
		if err != nil || r.String() != want {
			t.Errorf("%q is %q, %v", url, r, err)
		}
		if again, err := gitmirror.ParseURL(r.String(), false); err != nil || again != r {
			t.Errorf("%q is read again as %q, %v", r, again, err)
		}
	}
}

// TestNames: a name that is none never reaches git.
func TestNames(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	for _, name := range []string{"", "-x", "--upload-pack=x", "a b",
		"a\nb", "a..b", "a~1", "a^{commit}", "a:b", "@{-1}", "@",
		"a//b",
		"/a", "a/", ".a", "a/.b", "a.lock", "a\x00b", "a\\b", "a[b", "a?b", "a.", strings.Repeat("x", 300)} {
		if err := gitmirror.CheckBranch(name); err == nil {
			t.Errorf("%q is taken for a branch", name)
		}
		w.source.Branches = []string{name}
		_, err := w.mirror.Fetch(t.Context(), w.source)
		wantKind(t, err, gitmirror.AddressInvalid)
	}
	if len(w.server.Requests()) > 0 {
		t.Errorf("the server was asked %v", w.server.Requests())
	}
	for _, commit := range []string{"", "main", "HEAD", "--all", "deadbeef", strings.Repeat("g", 40),
		strings.Repeat("A", 40)} {
		_, err := w.mirror.Tree(t.Context(), commit)
		if err == nil {
			t.Errorf("%q is taken for a commit", commit)
		}
	}
}

// TestPrivate: an address in a private network is refused, whatever leads there, and nothing is asked of it.
func TestPrivate(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Commit("Begin")
	m, err := gitmirror.Open(w.folder, gitmirror.Options{CAFile: w.server.CAFile})
	must(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "[::1]"} {
		source := w.source
		source.Remote = parse(t, "https://"+host+":1234/infra.git")
		_, err := m.Fetch(t.Context(), source)
		wantKind(t, err, gitmirror.AddressRefused)
		source.Remote = parse(t, "ssh://git@"+host+"/infra.git")
		_, err = m.Fetch(t.Context(), source)
		wantKind(t, err, gitmirror.AddressRefused)
	}
	if len(w.server.Requests()) > 0 {
		t.Errorf("the server was asked %v", w.server.Requests())
	}
}

// TestAddressAsHost: a host that is an address of IPv6 is connected to.
func TestAddressAsHost(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	w.source.Remote = parse(t, "https://[::1]:9/infra.git") // where nobody listens
	_, err := w.mirror.Fetch(t.Context(), w.source)
	if wantKind(t, err, gitmirror.Unreachable); strings.Contains(err.Error(), "CURLOPT") {
		t.Errorf("curl was told what it can't read: %v", err)
	}
}

// TestElsewhere: neither a redirect nor the alternates of the old protocol lead git to another host, and none is
// told the token.
func TestElsewhere(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	w := newWorld(t, gitmirror.Limits{})
	commit := w.repo.Commit("Begin")
	w.source.Credentials.Token = "secret"
	w.server.Before(func(rw http.ResponseWriter, r *http.Request) bool {
		http.Redirect(rw, r, other.URL+r.URL.Path, http.StatusFound)
		return false
	})
	if _, err := w.mirror.Fetch(t.Context(), w.source); err == nil {
		t.Error("a redirect was followed")
	}
	w.server.Before(func(rw http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/info/refs"):
			_, _ = rw.Write([]byte(commit + "\trefs/heads/main\n"))
		case strings.HasSuffix(r.URL.Path, "alternates"):
			_, _ = rw.Write([]byte(other.URL + "/x/objects\n/etc\n"))
		default:
			http.NotFound(rw, r)
		}
		return false
	})
	if _, err := w.mirror.Fetch(t.Context(), w.source); err == nil {
		t.Error("a repository of which nothing is there was fetched")
	}
	if asked > 0 {
		t.Errorf("another host was asked %d times", asked)
	}
	w.server.Before(nil)
	w.fetch()
}

// TestHostileTree: links that lead out, to themselves or to too much are refused, and what is in the
// repository runs nothing and changes nothing.
func TestHostileTree(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	mark := filepath.Join(t.TempDir(), "ran")
	w.repo.Write(".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf export-subst ident\n"+
		"secret.tf export-ignore\n")
	w.repo.Write(".gitconfig", "[filter \"evil\"]\n\tsmudge = touch "+mark+"\n")
	w.repo.Write(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = https://127.0.0.1:1/x\n")
	w.repo.Write("ok/main.tf", "$Format:%H$ $Id$\n")
	w.repo.Write("ok/secret.tf", "kept\n")
	for path, to := range map[string]string{"out/a.tf": "../../etc/passwd", "abs/a.tf": "/etc/passwd", "loop/a.tf": "b.tf",
		"loop/b.tf": "a.tf", "dangling/a.tf": "nowhere.tf", "up/a": "..", "through/a.tf": "../up/../../x"} {
		w.repo.Link(path, to)
	}
	w.repo.Commit("Attack")
	commit := w.repo.Tree("main", "040000 tree "+w.repo.Git("rev-parse", "HEAD:ok")+"\tok",
		"160000 commit "+strings.Repeat("1", 40)+"\tsub",
		"120000 blob "+w.repo.Blob("\x00")+"\tzero", "120000 blob "+w.repo.Blob("")+"\tempty")
	w.repo.Git("switch", "--quiet", "--detach")
	attack := w.repo.Git("rev-parse", "HEAD")
	w.repo.Git("push", "--quiet", "origin", attack+":refs/heads/attack")
	w.source.Branches = []string{"*"}
	w.fetch()
	for folder, kind := range map[string]gitmirror.Kind{"out": gitmirror.Hostile, "abs": gitmirror.Hostile,
		"loop": gitmirror.Hostile, "dangling": gitmirror.NotThere, "through": gitmirror.Hostile, "none": gitmirror.NotThere,
		"../ok": gitmirror.Hostile, "ok/main.tf": gitmirror.NotThere, "up": gitmirror.Hostile} {
		var nothing strings.Builder
		err := w.mirror.Archive(t.Context(), attack, gitmirror.Archiving{Folders: []string{folder}}, &nothing)
		if wantKind(t, err, kind); nothing.Len() > 0 {
			t.Errorf("%s: %d bytes were written", folder, nothing.Len())
		}
	}
	got := unpack(t, w.mirror, attack, gitmirror.Archiving{Folders: []string{"ok"}})
	if len(got) != 2 || got["ok/main.tf"] != "$Format:%H$ $Id$\n" || got["ok/secret.tf"] != "kept\n" {
		t.Errorf("the archive has %q", got)
	}
	if _, err := w.mirror.ReadFile(t.Context(), attack, "abs/a.tf", 100); gitmirror.KindOf(err) != gitmirror.Hostile {
		t.Errorf("a link that leads out: %v", err)
	}
	got = unpack(t, w.mirror, commit, gitmirror.Archiving{Folders: []string{""},
		Skip: func(p string) bool { return p == "zero" || p == "empty" }})
	if len(got) != 2 {
		t.Errorf("the archive has %q", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something of the repository ran")
	}
}

// TestTooMany: what has links to folders with links to folders is refused before it is written.
func TestTooMany(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{Files: 300})
	for _, folder := range []string{"a", "b", "c", "d", "e", "f"} {
		next := string(rune(folder[0] + 1))
		for _, name := range []string{"1", "2", "3", "4", "5"} {
			w.repo.Link(folder+"/"+name, "../"+next)
		}
	}
	w.repo.Write("g/x.tf", "x")
	w.repo.Write("large.tf", strings.Repeat("x", 10_000))
	commit := w.repo.Commit("Grow")
	w.fetch()
	var nothing strings.Builder
	for _, a := range []gitmirror.Archiving{{Folders: []string{"a"}}, {Folders: []string{"c"}}} {
		wantKind(t, w.mirror.Archive(t.Context(), commit, a, &nothing), gitmirror.Hostile)
	}
	for _, a := range []gitmirror.Archiving{{Folders: []string{"e"}, MaxFiles: 3},
		{Files: []string{"large.tf"}, MaxFileBytes: 9999},
		{Files: []string{"large.tf", "g/x.tf"}, MaxBytes: 10_000}} {
		wantKind(t, w.mirror.Archive(t.Context(), commit, a, &nothing), gitmirror.TooLarge)
	}
	got := unpack(t, w.mirror, commit, gitmirror.Archiving{Folders: []string{"f"}})
	if len(got) != 5 || got["f/3/x.tf"] != "x" {
		t.Errorf("the archive has %q", got)
	}
}

// TestLongPaths: a few objects make many long paths, which would fill the memory.
func TestLongPaths(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{Paths: 1000})
	w.repo.Write(strings.Repeat("a", 200)+"/x.tf", "x")
	few := w.repo.Commit("Begin")
	for _, name := range []string{"b", "c", "d", "e"} {
		w.repo.Write(strings.Repeat(name, 200)+"/x.tf", "x")
	}
	many := w.repo.Commit("Grow")
	w.fetch()
	tree, err := w.mirror.Tree(t.Context(), few)
	must(t, err)
	must(t, tree.Close())
	_, err = w.mirror.Tree(t.Context(), many)
	wantKind(t, err, gitmirror.TooLarge)
}

// TestHostileObjects: objects that nobody makes by mistake are not let in, and the mirror is usable afterwards.
func TestHostileObjects(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	good := w.repo.Commit("Begin")
	w.fetch()
	w.repo.Write(".gitmodules", "[submodule \"s\"]\n\tpath = s\n\turl = ./x\n\tupdate = !touch /tmp/x\n")
	w.repo.Git("add", "--all")
	for name, line := range map[string]string{
		"modules": "100644 blob " + w.repo.Git("rev-parse", ":.gitmodules") + "\t.gitmodules",
		"git":     "040000 tree " + w.repo.Git("rev-parse", "HEAD^{tree}") + "\t.GIT",
		"dots":    "100644 blob " + w.repo.Blob("x") + "\t.."} {
		w.repo.Tree(name, line)
		w.source.Branches = []string{"main", name}
		_, err := w.mirror.Fetch(t.Context(), w.source)
		wantKind(t, err, gitmirror.Hostile)
		head, err := w.mirror.Head(t.Context(), "main")
		if err != nil || head != good {
			t.Errorf("%s: the head is %q, %v", name, head, err)
		}
	}
	w.source.Branches = []string{"main"}
	w.fetch()
}

// TestDeepTree: a tree of many levels is read or refused, and hurts nobody.
func TestDeepTree(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{})
	deep := w.repo.Deep("main", 100)
	w.fetch()
	tree, err := w.mirror.Tree(t.Context(), deep)
	must(t, err)
	defer tree.Close()
	if len(tree.Entries()) != 1 {
		t.Errorf("there are %d paths", len(tree.Entries()))
	}
	commit := w.repo.Deep("main", 300)
	w.fetch()
	_, err = w.mirror.Tree(t.Context(), commit)
	wantKind(t, err, gitmirror.TooLarge)
}

// TestTooLarge: a repository beyond the limit is stopped, keeps no room, and what was there stays usable.
func TestTooLarge(t *testing.T) {
	w := newWorld(t, gitmirror.Limits{Bytes: 1 << 20})
	w.repo.Write("small.tf", "small")
	good := w.repo.Commit("Begin")
	w.fetch()
	w.repo.Write("large.bin", noise(3<<20))
	w.repo.Commit("Grow")
	_, err := w.mirror.Fetch(t.Context(), w.source)
	wantKind(t, err, gitmirror.TooLarge)
	if head, err := w.mirror.Head(t.Context(), "main"); err != nil || head != good {
		t.Errorf("the head is %q, %v", head, err)
	}
	if bytes, err := w.mirror.Bytes(); err != nil || bytes > 1<<20 {
		t.Errorf("the mirror takes %d bytes, %v", bytes, err)
	}
}

// noise is a text of so many bytes that hardly gets smaller.
func noise(bytes uint32) string {
	var all strings.Builder
	for i := range bytes {
		x := i * 2654435761
		all.WriteByte(byte(x>>13 ^ x>>21 ^ i>>7))
	}
	return all.String()
}
