package outbound

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
)

func TestInside(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.10": true, "0.0.0.0": true, "169.254.169.254": true, "10.1.2.3": true,
		"172.16.0.1": true, "172.31.255.255": true, "192.168.1.1": true, "100.64.0.1": true, "100.100.100.200": true,
		"168.63.129.16": true, "192.0.0.192": true, "198.18.0.1": true, "224.0.0.1": true, "255.255.255.255": true,
		"::1": true, "::": true, "fe80::1": true, "fd00:ec2::254": true, "fc00::1": true, "ff02::1": true,
		"::ffff:10.0.0.1": true,
		"64:ff9b::7f00:1": true, "64:ff9b:1::1": true, "2002:7f00:1::": true, "::127.0.0.1": true, "2001::1": true,
		"1.1.1.1": false, "172.32.0.1": false, "172.15.255.255": false, "192.169.0.1": false, "100.128.0.1": false,
		"11.0.0.1": false, "2606:4700::1111": false, "2001:4860:4860::8888": false, "::ffff:1.1.1.1": false,
	} {
		if got := isInside(netip.MustParseAddr(text).Unmap()); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// A name leads to what it resolves to, however it is spelt.
func TestRefused(t *testing.T) {
	asked := 0
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer there.Close()
	u, err := url.Parse(there.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		client := &http.Client{Transport: Transport(nil, nil)}
		response, err := client.Get("http://" + host + ":" + u.Port())
		if err == nil {
			response.Body.Close()
		}
		if _, refused := errors.AsType[*RefusedError](err); !refused || asked > 0 {
			t.Errorf("%s: %v after %d requests", host, err, asked)
		}
	}
	client := &http.Client{Transport: Transport([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil)}
	response, err := client.Get(there.URL)
	if err != nil || asked != 1 {
		t.Fatalf("%v after %d requests", err, asked)
	}
	response.Body.Close()
}
