package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/internal/folder"
)

// lookFiles compares the folder with the newest configuration.
func (r *Reconciler) lookFiles(ctx context.Context, l *look) error {
	p := l.partition
	dir := filepath.Join(r.Dir, filepath.FromSlash(p.Dir))
	found, links, err := folder.Read(dir)
	if err != nil {
		return err
	}
	if len(links) > 0 {
		return fmt.Errorf("%s is a link or no regular file: a configuration has none", filepath.Join(dir, links[0]))
	}
	for _, f := range found {
		if f.Path != enclave.RecordPath {
			l.files = append(l.files, File{SnapshotFile: f, Source: filepath.Join(dir, filepath.FromSlash(f.Path))})
		}
	}
	if l.workspace != nil {
		if l.there, err = r.Server.Snapshot(ctx, p.Path()); err != nil {
			return err
		}
	}
	text, err := l.record.Text()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	l.files = append(l.files, File{api.SnapshotFile{Path: enclave.RecordPath, Size: int64(len(text)),
		SHA256: hex.EncodeToString(sum[:])}, "", text})
	slices.SortFunc(l.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	differ := l.compareFiles()
	l.push = len(differ) > 0
	if l.push && l.workspace != nil && l.there.Snapshot.Number > 0 {
		l.because("%s", shortened(differ))
		l.refreshSensitive(differ)
	}
	return nil
}

// refreshSensitive has sensitive variables set anew where what they are made of has changed.
func (l *look) refreshSensitive(differ []string) {
	if !slices.Contains(differ, enclave.RecordPath+" differs") {
		return
	}
	for _, want := range l.wanted() {
		if want.Sensitive && !slices.Contains(l.variables.Set, want) {
			l.variables.Set = append(l.variables.Set, want)
		}
	}
}

// shortened is a list for people, of which at most three are shown.
func shortened(all []string) string {
	if len(all) > 3 {
		return strings.Join(all[:3], ", ") + fmt.Sprintf(" and %d more", len(all)-3)
	}
	return strings.Join(all, ", ")
}

func (l *look) compareFiles() (differ []string) {
	there := map[string]api.SnapshotFile{}
	for _, f := range l.there.Files {
		there[f.Path] = f
	}
	for _, f := range l.files {
		was, known := there[f.Path]
		switch {
		case !known:
			differ = append(differ, f.Path+" is new")
		case was.SHA256 != f.SHA256 || was.Executable != f.Executable:
			differ = append(differ, f.Path+" differs")
		}
		delete(there, f.Path)
	}
	for _, path := range slices.Sorted(maps.Keys(there)) {
		differ = append(differ, path+" is gone")
	}
	return differ
}
