package bucket

import (
	"net/url"
	"testing"
)

func TestKeysAreEscaped(t *testing.T) {
	const key = "env:/prod/a b+c%2F/ü.tfstate"
	escaped := escapedKey(key)
	if back, err := url.PathUnescape(escaped); err != nil || back != key ||
		escaped != "env%3A/prod/a%20b%2Bc%252F/%C3%BC.tfstate" {
		t.Errorf("%s, which is %s, %v", escaped, back, err)
	}
}
