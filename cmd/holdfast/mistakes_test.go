package main

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth"
)

// noFile is a path where no file is.
const noFile = "/does/not/exist"

// askingLines are all commands that ask a server, with what each wants.
func askingLines() map[string][]string {
	const candidate = "6cfe64124c473b25"
	lines := map[string][]string{
		"audit verify": nil, "audit head": nil,
		"bench": {"--count", "1"}, "export": {someOrg, "--dry-run"}, "data tail": nil, "candidate add": {"app", "FILE"},
		"candidate promote": {"app", candidate}, "candidate discard": {"app", candidate},
		"config push": {"app", "FOLDER"}, "config pull": {"app", "FOLDER"}, "lock release": {"app"},
		"pool create": {"eu"}, "pool rotate": {"eu"}, "pool remove": {"eu"}, "pool set": {"eu", "--workspaces", "a"},
		"pool grant": {"eu", someOrg}, "pool revoke": {"eu", someOrg}, "pool accept": {"eu", "--from", someOrg},
		"repo add": {"infra", "https://example.com/x.git"}, "repo show": {"infra"}, "repo set": {"infra"},
		"repo fetch": {"infra"}, "repo secret": {"infra"}, "repo remove": {"infra"},
		"pull look": {"infra", "7"}, "pull settings": {"infra"},
		"pull allow": {"infra", "7", "89abcdef0123456789abcdef0123456789abcdef"},
		"layer add":  {"app", "--repository", "infra"}, "layer set": {"app", "--retries", "3"}, "layer sync": {"app"},
		"layer check": {"app"}, "layer expect": {"app", "a.*", "--owner", "ops"}, "layer remove": {"app"},
		"run plan": {"app"}, "run apply": {"app"}, "run destroy": {"app"}, "run approve": {goldenRun},
		"run deny": {goldenRun}, "run discard": {goldenRun}, "run cancel": {goldenRun}, "run retry": {goldenRun},
		"run resolve": {goldenRun}, "run log": {goldenRun}, "run insight": {goldenRun},
		"policy push": {"base", "POLICIES"}, "policy list": nil, "policy show": {"base"}, "policy remove": {"base"},
		"infra plan":  {"--project-id", "app", "--dir", "FOLDER"},
		"infra apply": {"--project-id", "app", "--dir", "FOLDER"},
		"infra pull":  {"--project-id", "app", "--dir", "FOLDER"},
		"state pull":  {"app"}, "state push": {"app", "FILE"}, "state rm": {"app"}, "state rollback": {"app", "1"},
		"state undelete":   {"app"},
		"workspace create": {"app"}, "workspace set": {"app", "--var", "a=b"}, "workspace unset": {"app", "--var", "a"},
		"workspace delete": {"app"},
		"enclave plan":     {"ENCLAVES"}, "enclave apply": {"ENCLAVES"}, "enclave destroy": {"ENCLAVES", "--all"},
		"enclave status": {"ENCLAVES"}, "enclave diff": {"ENCLAVES"}, "iac logs": {"e", "p", "--last"},
	}
	for name, args := range goldenLines() {
		if name != "org list" && name != "key list" {
			lines[name] = slices.Clone(args)
		}
	}
	root := newRootCommand(&app{})
	for name, args := range lines {
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil {
			panic(err)
		}
		for _, flag := range []string{"--reason", "--yes"} {
			if cmd.Flags().Lookup(flag[2:]) != nil {
				args = append(args, flag)
				if flag == "--reason" {
					args = append(args, "x")
				}
			}
		}
		lines[name] = args
	}
	return lines
}

// inWorld puts a file and a folder in the place of their words.
func inWorld(s *shell, args []string) []string {
	file := s.write("a.tfstate", network(1, "small"))
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg {
		case "FILE":
			args[i] = file
		case "ENCLAVES":
			args[i] = filepath.Join(filepath.Dir(file), "enclaves")
			for path, text := range map[string]string{"e/config.yml": "id: e\n", "e/p/main.tf": "",
				"e/p/config.yml": "id: p\nproduces: tcp\nbackend: opentofu\n"} {
				full := filepath.Join(args[i], path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
					s.t.Fatal(err)
				}
			}
		case "POLICIES":
			args[i] = filepath.Dir(s.write("a.rego", "package p\n"))
		case "FOLDER":
			args[i] = filepath.Dir(s.write("main.tf", ""))
		}
	}
	return args
}

// Every command that asks a server is among those that the tests of mistakes try.
func TestAskingLinesAreAll(t *testing.T) {
	lines := askingLines()
	for _, cmd := range leaves(newRootCommand(newShell(t).app(nil, nil))) {
		switch nameOf(cmd) {
		case "state backend": // asks nobody
			continue
		case "import folder", "import http", "import gitlab", "import s3", "import tfe",
			"import export": // look there first
			continue
		}
		if _, ok := lines[nameOf(cmd)]; cmd.Flags().Lookup("addr") != nil && !ok {
			t.Errorf("holdfast %s is not tried", nameOf(cmd))
		}
	}
}

// sameMistake runs every command that asks a server, and wants the same words of all.
func sameMistake(t *testing.T, want string, code int, prepare func(s *shell), more ...string) {
	for _, name := range slices.Sorted(maps.Keys(askingLines())) {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			prepare(s)
			args := append(append(strings.Fields(name), inWorld(s, askingLines()[name])...), more...)
			got, _, errs := s.run(args...)
			lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
			own := []string{"run plan", "run apply", "run destroy", "enclave plan", "infra plan"}
			isOwn := slices.Contains(own, name) &&
				got == exitFailed // whose 2 means changes
			if first := lines[len(lines)-1]; code == exitUsage && len(lines) > 1 {
				if first = lines[len(lines)-2]; first != "holdfast: "+want || got != code && !isOwn {
					t.Errorf("exit %d, %s", got, errs)
				}
			} else if first != "holdfast: "+want || got != code {
				t.Errorf("exit %d, %s", got, errs)
			}
		})
	}
}

func TestRefusedConnectionReadsTheSame(t *testing.T) {
	sameMistake(t, "the server at http://127.0.0.1:1 can't be reached: connection refused", exitFailed, func(s *shell) {
		s.environ = append(s.environ, "HOLDFAST_ADDR=http://127.0.0.1:1", "HOLDFAST_KEY="+auth.NewKey(acme))
	})
}

func TestWrongKeyReadsTheSame(t *testing.T) {
	sameMistake(t, "the server answers 401 credentials_wrong: the key is wrong (request r1)", exitFailed, func(s *shell) {
		s.asking(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"status":"error","code":"credentials_wrong","message":"the key is wrong","request_id":"r1"}`))
		}), auth.NewKey(acme))
	})
}

func TestUnknownFlagReadsTheSame(t *testing.T) {
	sameMistake(t, "unknown flag: --quite-unrelated", exitUsage, func(*shell) {}, "--quite-unrelated")
}

func TestMissingCredentialsReadTheSame(t *testing.T) {
	sameMistake(t, noFile+": no such file or directory", exitFailed, func(*shell) {}, "--credentials", noFile)
	sameMistake(t, `--org: "Acme" is not an organization's UUID; `+"`holdfast org list` shows them", exitUsage,
		func(s *shell) {
			s.environ = append(s.environ, "HOLDFAST_KEY=secret")
		}, "--org", "Acme")
}

// A state that is not there is called so by every command that is about one.
func TestUnknownStateReadsTheSame(t *testing.T) {
	for _, line := range []string{
		"show app", "versions app", "versions app --purge 1 --reason x --yes", "diff app", "diff app 1", "outputs app",
		"outputs app x", "pull app", "pull app --version 1", "rm app --yes",
		"rollback app 1 --reason x --yes", "undelete app",
	} {
		t.Run(line, func(t *testing.T) {
			s := newShell(t)
			s.serving(reports(t))
			s.refuse(exitFailed, "holdfast: there is no state app; `holdfast state list` shows those there are\n",
				append([]string{"state"}, strings.Fields(line)...)...)
		})
	}
}

// A file that is not there is called so by every command that reads one.
func TestMissingFileReadsTheSame(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	for _, line := range []string{
		"state push app " + noFile, "candidate add app " + noFile, "config push app " + noFile, "data import --format csv " +
			noFile, "bench --keys " + noFile,
		"agent --server http://127.0.0.1:1 --work x --pool-token-file " + noFile, "tool add opentofu 1.12.6 " + noFile,
	} {
		code, out, errs := s.run(strings.Fields(line)...)
		if code == exitOK || out != "" || !strings.Contains(errs, noFile+": no such file or directory\n") ||
			strings.Contains(errs, "open "+noFile) || strings.Contains(errs, "stat "+noFile) {
			t.Errorf("%s: exit %d, %s%s", line, code, out, errs)
		}
	}
}

// An organization that is not there is called so by every command that names one.
func TestUnknownOrganizationReadsTheSame(t *testing.T) {
	s := newShell(t)
	s.must("init")
	for _, line := range []string{"key add Nobody", "key list Nobody", "key rotate Nobody ci", "key revoke Nobody ci",
		"org rename Nobody x", "org remove Nobody --yes"} {
		s.refuse(exitFailed, "holdfast: there is no organization \"Nobody\"; `holdfast org list` shows them\n",
			strings.Fields(line)...)
	}
}
