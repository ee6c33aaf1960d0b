//go:build unix

package local

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A partition is looked at by `output -json` and nothing else. Where that fails, or says nothing that can be read, it
// does not exist, and that is no error.
func TestObserveAsksForOutputsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		says   string // what the tool does
		exists bool
		host   string // an output
	}{
		"outputs":          {`echo '{"host":{"sensitive":false,"type":"string","value":"h"}}'`, true, `"h"`},
		"no outputs":       {`echo '{}'`, true, ""},
		"not initialised":  {`echo 'Error: Backend initialization required' >&2; exit 1`, false, ""},
		"the server away":  {`echo '{"host":{"value":"h"}}'; exit 1`, false, ""},
		"nothing readable": {`echo 'Warning: x'`, false, ""},
		"too much":         {`head -c 17000000 /dev/zero`, false, ""},
		"killed":           {`kill -KILL $$`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			tool, calls := filepath.Join(root, "tofu"), filepath.Join(root, "calls")
			write(t, root, map[string]string{"tofu": "#!/bin/sh\necho \"$@\" >>" + calls + "\n" + c.says + "\n"})
			if err := os.Chmod(tool, 0o700); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(kept{Binary: tool})
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, "e", "p"), map[string]string{appliedFile: string(text)})
			seen, err := (&Runner{Root: root, Environ: os.Environ()}).Observe(t.Context(), "e/p")
			if err != nil || seen.Exists != c.exists {
				t.Errorf("%+v %v", seen, err)
			}
			if got := string(seen.Outputs["host"].Value); got != c.host {
				t.Errorf("the output is %s", got)
			}
			if said, err := os.ReadFile(calls); string(said) != "output -json -no-color\n" {
				t.Errorf("%q %v", said, err)
			}
		})
	}
}

// What was never begun here is not there, and no tool is asked.
func TestObserveOfWhatIsNotThere(t *testing.T) {
	seen, err := (&Runner{Root: t.TempDir()}).Observe(t.Context(), "e/p")
	if seen.Exists || err != nil {
		t.Errorf("%+v %v", seen, err)
	}
}
