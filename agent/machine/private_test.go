package machine_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/machine"
)

// Commands read the folders of the system: what is kept in there is no secret.
func TestNothingRunsWhereSecretsAreExposed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no commands")
	}
	for _, path := range []string{"/usr/local/holdfast/data", "/usr/lib", "/bin/holdfast"} {
		_, err := machine.NewCommands(t.Context(),
			machine.CommandSettings{Work: t.TempDir(), Shims: true, Private: []string{path}})
		if err == nil || !strings.Contains(err.Error(), "keep it elsewhere") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
