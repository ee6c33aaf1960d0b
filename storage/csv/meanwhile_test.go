package csv

import (
	"os"
	"testing"

	"github.com/google/uuid"
)

// editedFile is one that somebody changes just after an upload was written to it.
type editedFile struct {
	appendFile
	edit func()
}

func (f editedFile) WriteAt(p []byte, offset int64) (int, error) {
	defer f.edit()
	return f.appendFile.WriteAt(p, offset)
}

// TestEditDuringWrite has an editor replace or lengthen a file in the middle of an
// upload, which must not be acknowledged then.
func TestEditDuringWrite(t *testing.T) {
	for _, name := range []string{"replaced", "saved", "appended to"} {
		t.Run(name, func(t *testing.T) {
			org := uuid.New()
			s := openIn(t, Options{Dir: t.TempDir()})
			first, second := newBatch(org, 1), newBatch(org, 1)
			upload(t, s, first)
			s.files.forget(org)
			path := s.path(org)
			good := contents(t, path)
			s.files.open = func(path string) (appendFile, error) {
				f, err := openFile(path)
				return editedFile{f, func() { editNow(t, name, path, good) }}, err
			}
			if receipt, err := s.Append(t.Context(), second); err == nil {
				t.Fatalf("acknowledged: %+v", receipt)
			}
			s.files.open = openFile
			if name == "replaced" { // by what it was
				wantBatches(t, s, org, first)
				return
			}
			wantRefused(t, s, org, 3)
			write(t, path, good)
			if receipt := upload(t, s, second); receipt.Replayed {
				t.Error("the upload was recorded")
			}
			wantBatches(t, s, org, first, second)
		})
	}
}

func editNow(t *testing.T, how, path, good string) {
	if how == "appended to" {
		write(t, path, contents(t, path)+"x")
		return
	}
	if how == "saved" { // with what the editor sees, which is not on the disk so far
		good = contents(t, path)
	}
	write(t, path+"~", good)
	if err := os.Rename(path+"~", path); err != nil {
		t.Error(err)
	}
}
