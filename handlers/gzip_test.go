package handlers_test

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/inventory"
)

// zipped is one gzip member.
func zipped(text string) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // fails for a wrong level only
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// flipped has one bit changed in the byte at i, counted from the end if it is negative.
func flipped(text string, i int) string {
	b := []byte(text)
	if i < 0 {
		i += len(b)
	}
	b[i] ^= 1
	return string(b)
}

func TestGzipUploads(t *testing.T) {
	whole := zipped(oneUpload("a"))
	half := len(oneUpload("a")) / 2
	// A member with nothing but a header, which ends within the file name.
	nameless := "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff"
	padding := strings.Repeat(" ", inventory.MaxBody-len(oneUpload("a")))
	for name, test := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"whole":                    {whole, 200, ""},
		"two members":              {zipped(oneUpload("a")[:half]) + zipped(oneUpload("a")[half:]), 200, ""},
		"members of nothing":       {strings.Repeat(zipped(""), 5000) + whole + zipped(""), 200, ""},
		"as long as allowed":       {zipped(oneUpload("a") + padding), 200, ""},
		"too long":                 {zipped(oneUpload("a") + padding + " "), 413, "body_too_large"},
		"too long by a member":     {zipped(oneUpload("a")+padding) + zipped(" "), 413, "body_too_large"},
		"a gigabyte":               {strings.Repeat(zipped(strings.Repeat(" ", 1<<20)), 1024), 413, "body_too_large"},
		"too much that is nothing": {strings.Repeat(zipped(""), inventory.MaxBody/len(zipped(""))+1), 413, "body_too_large"},
		"other JSON":               {zipped(`{"a":` + strings.Repeat("[", 20)), 400, "upload_malformed"},
		"gzip in gzip":             {zipped(whole), 400, "upload_malformed"},
		"no JSON at all":           {zipped(""), 400, "upload_malformed"},
		"empty":                    {"", 400, "gzip_damaged"},
		"no gzip":                  {oneUpload("a"), 400, "gzip_damaged"},
		"cut off in the header":    {whole[:7], 400, "gzip_damaged"},
		"cut off in the data":      {whole[:len(whole)/2], 400, "gzip_damaged"},
		"cut off in the checksum":  {whole[:len(whole)-1], 400, "gzip_damaged"},
		"wrong checksum":           {flipped(whole, -8), 400, "gzip_damaged"},
		"wrong length":             {flipped(whole, -1), 400, "gzip_damaged"},
		"wrong data":               {flipped(whole, len(whole)/2), 400, "gzip_damaged"},
		"another method":           {flipped(whole, 2), 400, "gzip_damaged"},
		"something behind it":      {whole + "x", 400, "gzip_damaged"},
		"zeros behind it":          {whole + "\x00\x00", 400, "gzip_damaged"},
		"JSON behind it":           {whole + "{}", 400, "gzip_damaged"},
		"a header behind it":       {whole + nameless, 400, "gzip_damaged"},
		"half a member behind it":  {whole + whole[:20], 400, "gzip_damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
			got := c.do("POST /upload", test.body, "Content-Encoding: GZip")
			if got.status != test.status || !strings.Contains(got.body, test.code) {
				t.Errorf("%d %s; want %d %s", got.status, got.body, test.status, test.code)
			}
			count := `"count":0,`
			if test.status == http.StatusOK {
				count = `"count":1,`
			}
			c.converse([]step{{"GET /api/v1/data", "", 200, count}})
		})
	}
}

// A connection that breaks off is not taken for damage, which sending again won't mend.
func TestGzipUploadBreaksOff(t *testing.T) {
	server := startServer(t, testDeps(t))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /upload HTTP/1.1\r\nHost: x\r\nX-Org-ID: %s\r\nX-API-Key: %s\r\nContent-Encoding: "+
		"gzip\r\nContent-Length: 1000\r\n\r\n%s",
		acme, acmeKey, zipped(oneUpload("a"))[:20])
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), "body_unreadable") {
		t.Errorf("%s, %v; want body_unreadable", answer, err)
	}
}

// With and without gzip it is the same upload.
func TestGzipUploadOfASecondTime(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	sum := md5.Sum([]byte(oneUpload("a")))
	digest := "Content-MD5: " + base64.StdEncoding.EncodeToString(sum[:])
	for i, s := range []struct {
		body, encoding string
		status         int
	}{
		{zipped(oneUpload("a")), "gzip", 200},
		{oneUpload("a"), "identity", 200},
		{zipped("") + zipped(oneUpload("a")), "gzip", 200},
		{zipped(oneUpload("b")), "gzip", 400}, // has another digest than it says
	} {
		got := c.do("POST /upload", s.body, "Idempotency-Key: k", "Content-Encoding: "+s.encoding, digest)
		if got.status != s.status || (got.header.Get("Idempotent-Replayed") == "true") != (i == 1 || i == 2) {
			t.Errorf("%d: %d %s", i, got.status, got.body)
		}
	}
	c.converse([]step{{"GET /api/v1/data", "", 200, `"count":1,`}})
}

func TestOneContentEncoding(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	r, err := http.NewRequest("POST", c.url+"/upload", strings.NewReader(oneUpload("a")))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.user, c.key)
	r.Header["Content-Encoding"] = []string{"identity", "br"}
	if got := c.send(r); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("%d %s; want 415", got.status, got.body)
	}
}
