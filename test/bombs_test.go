//go:build e2e

package test

import (
	"fmt"
	"strings"
)

const (
	mib      = 1 << 20
	uploadTo = "POST /api/v1/upload"
	stateTo  = "POST /api/v1/state/bomb"
	words    = `"provider":"aws","category":"compute","resource_type":"vm"`
)

// bomb returns the bomb of this name. Those for uploads are of 10 MiB, which is all that is
// read of one; those for states of 16 MiB.
func (w *world) bomb(name string) (bomb, error) {
	target, kind, _ := strings.Cut(name, "/")
	b := bomb{rest: strings.NewReader("")}
	switch target {
	case "upload":
		b.target, b.body = uploadTo, bombBody(kind, `{`+words+`,"attributes":{`, `}}`, 10*mib)
	case "state":
		b.target, b.body = stateTo, bombBody(kind, `{"version":4,"serial":1,"x":{`, `}}`, 16*mib)
	case "lock":
		b.target, b.body = "LOCK /api/v1/state/bomb", bombBody(kind, `{"ID":"a","x":{`, `}}`, 64<<10)
	case "gzip":
		b.target, b.headers, b.body = uploadTo, []string{"Content-Encoding: gzip"}, gzipBomb(kind)
	case "head":
		return headBomb(kind)
	case "length":
		return lengthBomb(kind)
	}
	if b.body == "" {
		return bomb{}, fmt.Errorf("there is no bomb %s", name)
	}
	return b, nil
}

// bombBody is a JSON text of this length at most, with the bomb between head and tail.
func bombBody(kind, head, tail string, length int) string {
	length -= len(head) + len(tail) + 64
	many := func(text string) string { return strings.Repeat(text, length/len(text)) }
	body := map[string]func() string{
		"nested":         func() string { return `"a":` + many("[") },
		"nested-whole":   func() string { return `"a":` + many("[")[:length/2] + many("]")[:length/2] },
		"nested-objects": func() string { return `"a":` + many(`{"":`) },
		"empty-arrays":   func() string { return `"a":[` + many("[],") + "[]]" },
		"empty-objects":  func() string { return `"a":[` + many("{},") + "{}]" },
		"number":         func() string { return `"a":` + many("1") },
		"exponent":       func() string { return `"a":1e` + many("9") },
		"key":            func() string { return `"` + many("k") + `":1` },
		"escaped-key":    func() string { return `"` + many(`\u006b`) + `":1` },
		"string":         func() string { return `"a":"` + many("s") + `"` },
		"keys":           func() string { return numbered(length) + `"a":1` },
		"duplicates":     func() string { return many(`"a":1,`) + `"a":1` },
		"not-utf-8":      func() string { return `"a":"` + many("\xff") + `"` },
		"surrogates":     func() string { return `"a":"` + many(`\ud800`) + `"` },
		"spaces":         func() string { return many(" ") + `"a":1` },
	}[kind]
	if body == nil {
		return ""
	}
	return head + body() + tail
}

// numbered has as many different names as fit.
func numbered(length int) string {
	var b strings.Builder
	for i := 0; b.Len() < length-16; i++ {
		fmt.Fprintf(&b, `"n%x":1,`, i)
	}
	return b.String()
}

func gzipBomb(kind string) string {
	switch kind {
	case "spaces": // 9 GB of them
		return strings.Repeat(member(" ", 10*mib), 900)
	case "just-above":
		return member(" ", 10*mib+1)
	case "members": // of nothing
		return strings.Repeat(member("", 0), 10*mib/len(member("", 0)))
	case "nested": // as above, below the limit in size
		return member(`{"":`, 10*mib)
	case "blocks": // of nothing
		return "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + strings.Repeat("\x00\x00\x00\xff\xff", 2*mib-100)
	case "extra": // as much beside the data as there may be
		return strings.Repeat("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\xff\xff"+strings.Repeat("x", 65535)+
			"\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", 100)
	}
	return ""
}

// lengthBomb is about bodies that are not as long as they say.
func lengthBomb(kind string) (bomb, error) {
	none := strings.NewReader("")
	chunked := "Transfer-Encoding: chunked"
	b, ok := map[string]bomb{
		"endless-upload": {uploadTo, []string{chunked}, "", &endless{text: "5\r\n     \r\n"}},
		"endless-state":  {stateTo, []string{chunked}, "", &endless{text: "1000\r\n" + strings.Repeat(" ", 0x1000) + "\r\n"}},
		"endless-lock":   {"LOCK /api/v1/state/bomb", []string{chunked}, "", &endless{text: "5\r\n     \r\n"}},
		"endless-gzip":   {uploadTo, []string{chunked, "Content-Encoding: gzip"}, "", gzipChunks()},
		"endless-tiny":   {uploadTo, []string{chunked}, "", &endless{text: "1;" + strings.Repeat("x", 1000) + "\r\n \r\n"}},
		"endless-get":    {"GET /api/v1/state/honest", []string{chunked}, "", &endless{text: "5\r\n     \r\n"}},
		"chunk-too-long": {uploadTo, []string{chunked}, "FFFFFFFFFFFFFFFFF\r\n", none},
		"chunk-negative": {uploadTo, []string{chunked}, "-1\r\nx\r\n", none},
		"trailers": {uploadTo, []string{chunked}, "2\r\n{}\r\n0\r\n",
			&endless{text: "X-Trailer: " + strings.Repeat("x", 4096) + "\r\n"}},
		"longer":       {uploadTo, []string{"Content-Length: 1000"}, `{"a":1}`, nil},
		"much-longer":  {uploadTo, []string{"Content-Length: 9223372036854775807"}, `{"a":1}`, none},
		"state-longer": {stateTo, []string{"Content-Length: 16777216"}, `{"a":1}`, nil},
		"shorter":      {uploadTo, []string{"Content-Length: 2"}, "{}", &endless{text: "GET /smuggled HTTP/1.1\r\n"}},
	}[kind]
	if !ok {
		return bomb{}, fmt.Errorf("there is no bomb length/%s", kind)
	}
	return b, nil
}

// headBomb has more before its body than anybody needs.
func headBomb(kind string) (bomb, error) {
	const get = "GET /api/v1/state/honest"
	switch none := strings.NewReader(""); kind {
	case "long-header":
		return bomb{get, []string{"X-Long: " + strings.Repeat("x", mib)}, "", none}, nil
	case "long-target":
		return bomb{get + strings.Repeat("x", mib), nil, "", none}, nil
	case "many-headers":
		return bomb{get, strings.Split(strings.TrimSuffix(strings.Repeat("X:\r\n", 100_000), "\r\n"), "\r\n"), "", none}, nil
	}
	return bomb{}, fmt.Errorf("there is no bomb head/%s", kind)
}

// gzipChunks never ends, and neither sends nor expands to much in one piece.
func gzipChunks() *endless {
	nothing := strings.Repeat(member("", 0), 100)
	return &endless{text: fmt.Sprintf("%x\r\n%s\r\n", len(nothing), nothing)}
}
