// Package bucket asks for objects of storage with S3's interface, and makes some.
package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Bucket is one, with the credentials for it.
type Bucket struct {
	// Endpoint is the service's address, without the bucket.
	Endpoint, Region, Name string
	// Key, Secret and Session are the credentials; Session may be empty.
	Key, Secret, Session string
}

// Request makes a request with a signature of version 4. The key of an object may be empty, for the bucket.
func (b Bucket) Request(ctx context.Context, method, key string, query url.Values, body []byte) (*http.Request,
	error) {
	address, err := url.Parse(strings.TrimSuffix(b.Endpoint, "/"))
	if err != nil {
		return nil, err
	}
	address = address.JoinPath(b.Name)
	if key != "" { // not by JoinPath, which would clean it
		address.Path, address.RawPath = address.Path+"/"+key, address.EscapedPath()+"/"+escapedKey(key)
	}
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	request, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", digest)
	who := aws.Credentials{AccessKeyID: b.Key, SecretAccessKey: b.Secret, SessionToken: b.Session}
	plain := func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true } // as S3 has it
	return request, v4.NewSigner(plain).SignHTTP(ctx, who, request, digest, "s3", b.Region, time.Now())
}

// escapedKey escapes a key for a path, slashes apart.
func escapedKey(key string) string {
	parts := strings.Split(key, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
