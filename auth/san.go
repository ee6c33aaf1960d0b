package auth

import (
	"crypto/x509"
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// maxSAN is the length of a subject alternative name in bytes, with its kind.
const maxSAN = 255

// ReadSAN reads a subject alternative name as auth.cfg spells it, such as
// "dns:ci.acme.example", "uri:spiffe://acme/ci", "email:ci@acme.example" or
// "ip:192.0.2.1", and returns it in the one form in which equal names are equal texts.
func ReadSAN(text string) (string, error) {
	kind, name, ok := strings.Cut(text, ":")
	if !ok || len(text) > maxSAN || strings.ContainsAny(name, " \"'`*") || strings.Contains(name, "%(") {
		return "", errors.New("it starts with dns:, uri:, email: or ip:, is a single name without * or quotation marks, " +
			"and has 255 characters at most")
	}
	switch kind {
	case "dns":
		return readDNSName(name)
	case "ip":
		return readAddressName(name)
	case "email":
		return readEmailName(name)
	case "uri":
		return readURIName(name)
	}
	return "", errors.New("it starts with one of dns:, uri:, email: and ip")
}

func readDNSName(name string) (string, error) {
	name = strings.ToLower(name)
	if !onlyOf(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") || strings.Contains("."+name+".", "..") {
		return "", errors.New("a dns: name is one such as ci.acme.example")
	}
	return "dns:" + name, nil
}

func readAddressName(name string) (string, error) {
	ip, err := netip.ParseAddr(name)
	if err != nil || ip.Zone() != "" {
		return "", errors.New("an ip: name is an address such as 192.0.2.1")
	}
	return "ip:" + ip.Unmap().String(), nil
}

func readEmailName(name string) (string, error) {
	local, domain, ok := strings.Cut(name, "@")
	if !ok || local == "" || domain == "" || strings.Contains(domain, "@") {
		return "", errors.New("an email: name is one such as ci@acme.example")
	}
	return "email:" + local + "@" + strings.ToLower(domain), nil
}

func readURIName(name string) (string, error) {
	u, err := url.Parse(name)
	if err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
		return "", errors.New("a uri: name is a whole one such as spiffe://acme.example/ci")
	}
	return "uri:" + u.String(), nil
}

// CertificateSANs returns the names of a certificate in the form of ReadSAN, without those
// that no rule could be about, such as wildcards.
func CertificateSANs(c *x509.Certificate) []string {
	var texts []string
	for _, name := range c.DNSNames {
		texts = append(texts, "dns:"+name)
	}
	for _, name := range c.EmailAddresses {
		texts = append(texts, "email:"+name)
	}
	for _, ip := range c.IPAddresses {
		texts = append(texts, "ip:"+ip.String())
	}
	for _, u := range c.URIs {
		texts = append(texts, "uri:"+u.String())
	}
	var names []string
	for _, text := range texts {
		if name, err := ReadSAN(text); err == nil {
			names = append(names, name)
		}
	}
	return names
}
