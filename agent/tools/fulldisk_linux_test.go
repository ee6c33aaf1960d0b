package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

// A full disk takes no tool, loses none, and has nothing left behind.
func TestFullDisk(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(root, 0); err != nil {
			t.Error(err)
		}
	})
	s := tools.New(tools.Settings{Root: root})
	add(t, s, tools.OpenTofu, tofu, "1.12.5")
	large := tofu("1.12.6") + "exit\n" + strings.Repeat("#", 2<<20)
	_, err := s.Add(t.Context(), tools.OpenTofu, "1.12.6", program(t, "tofu", large))
	wantFault(t, err, fault.StoreFull)
	if list, err := s.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("the store has %v, %v", list, err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".staging", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	_, err = s.Open(t.Context(), tools.OpenTofu, "1.12.5")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, "small"), nil, 0o600))
}
