package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// pageFile is a file of the page, as it is sent.
type pageFile struct {
	media  string
	tag    string // as ETag has it; weak, as it is the same in each coding
	hashed bool   // its name says what is in it, so it never changes
	plain  []byte
	brotli []byte               // nil where the build has made none
	gzip   func() (body []byte) // nil where that would not be smaller
}

// hashedPath is where the build puts files whose names say what is in them.
const hashedPath = "assets/"

// Beside a file, the build may put what it is in these codings.
const (
	brotliName = ".br"
	gzipName   = ".gz"
)

// readPage reads the files of the page, by their paths. What a build leaves for itself begins with a
// dot, and is none of them.
func readPage(from fs.FS) (map[string]*pageFile, error) {
	files := map[string]*pageFile{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		isHidden := strings.HasPrefix(entry.Name(), ".") && name != "."
		switch {
		case err != nil:
			return err
		case isHidden && entry.IsDir():
			return fs.SkipDir
		case isHidden || entry.IsDir() || isCoded(name):
			return nil
		}
		files[name], err = readPageFile(from, name)
		return err
	})
	return files, err
}

func isCoded(name string) bool {
	extension := path.Ext(name)
	return extension == brotliName || extension == gzipName
}

func readPageFile(from fs.FS, name string) (*pageFile, error) {
	plain, err := fs.ReadFile(from, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	f := &pageFile{media: mediaOf(name), hashed: strings.HasPrefix(name, hashedPath), plain: plain, tag: `W/"` +
		hex.EncodeToString(sum[:12]) + `"`}
	f.brotli, _ = fs.ReadFile(from, name+brotliName) // without it there is gzip
	packed, err := fs.ReadFile(from, name+gzipName)
	switch {
	case err == nil:
		f.gzip = func() []byte { return packed }
	case len(plain) >= minGzip && isCompressible(f.media):
		// What nobody asks for, such as an editor's parts, is not compressed.
		f.gzip = sync.OnceValue(func() []byte { return gzipped(plain) })
	}
	return f, nil
}

// mediaOf goes by the name alone, and not by what the machine's own tables say of it: a browser
// executes what is a script by its type.
func mediaOf(name string) string {
	known := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".json": mediaJSON, ".map": mediaJSON, ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml",
		".png":  "image/png",
		".webp": "image/webp", ".ico": "image/x-icon", ".woff2": "font/woff2", ".ttf": "font/ttf",
		".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8",
	}
	if media, ok := known[path.Ext(name)]; ok {
		return media
	}
	return "application/octet-stream"
}

// isCompressible reports whether compression makes it smaller.
func isCompressible(media string) bool {
	kind, _, _ := mime.ParseMediaType(media)
	switch kind {
	case "application/json", "application/manifest+json", "image/svg+xml", "application/wasm", "font/ttf":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}

func gzipped(plain []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // fails for a wrong level only
	_, _ = w.Write(plain)                                      // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}
