package follow

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile returns the text of a regular file of at most limit bytes, which are whole MiB,
// and what the open file was.
func ReadFile(path string, limit int64) ([]byte, fs.FileInfo, error) {
	// It is looked at before it is opened: to open a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(text)) > limit {
		return nil, nil, fmt.Errorf("%s: larger than %d MiB", path, limit>>20)
	}
	return text, info, nil
}
