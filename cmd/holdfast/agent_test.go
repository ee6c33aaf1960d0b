package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAgentSaysWhatItLacks(t *testing.T) {
	folder := t.TempDir()
	open, private := filepath.Join(folder, "open"), filepath.Join(folder, "private")
	for path, mode := range map[string]os.FileMode{open: 0o644, private: 0o600} {
		if err := os.WriteFile(path, []byte("token\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no token":          {nil, exitUsage, "--pool-token-file"},
		"a token for all":   {[]string{"--pool-token-file", open}, exitFailed, "can be read by others"},
		"no slots":          {[]string{"--pool-token-file", private, "--slots", "0"}, exitUsage, "--slots"},
		"no such level":     {[]string{"--pool-token-file", private, "--min-sandbox", "steel"}, exitUsage, "--min-sandbox"},
		"no such user":      {[]string{"--pool-token-file", private, "--user", "nobody-of-this-name"}, exitUsage, "--user"},
		"no such log level": {[]string{"--pool-token-file", private, "--log-level", "loud"}, exitUsage, "--log-level"},
		"an argument":       {[]string{"eu"}, exitUsage, "eu"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, now: time.Now,
				environ: []string{"HOLDFAST_AGENT_WORK=" + folder}}
			if code := run(t.Context(), append([]string{"agent"}, test.args...), a); code != test.code ||
				!strings.Contains(out.String(), test.want) {
				t.Errorf("it ends with code %d and says %q; wanted %d and %q", code, out.String(), test.code, test.want)
			}
		})
	}
}

// Commands are started in other folders than the agent, so a relative one is that of the agent's own start.
func TestAgentTakesRelativeFolders(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	f := agentFlags{tokenFile: "token", work: "work", slots: 1}
	if err := f.fill(&app{}); err != nil || f.work != filepath.Join(here, "work") ||
		f.tools != filepath.Join(here, "work", "tools") {
		t.Errorf("%q, %q, %v", f.work, f.tools, err)
	}
}
