package keyservice

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// awsKMS is AWS's Key Management Service.
type awsKMS struct {
	asker
	o          Options
	at, region string
}

// newAWS takes as key an ARN, or an ID or alias of AWS_REGION.
func newAWS(o Options, client *http.Client, at string) (*awsKMS, error) {
	region := cmp.Or(o.Getenv("AWS_REGION"), o.Getenv("AWS_DEFAULT_REGION"))
	if parts := strings.Split(o.Key, ":"); parts[0] == "arn" && len(parts) > 3 {
		region = parts[3]
	}
	if region == "" {
		return nil, errors.New("AWS_REGION has to say where the key is, or seal.key is its ARN")
	}
	return &awsKMS{asker: newAsker(client, "AWS KMS in "+region), o: o, region: region,
		at: cmp.Or(at, "https://kms."+region+".amazonaws.com") + "/"}, nil
}

// awsAnswer is what the three operations answer with.
type awsAnswer struct{ CiphertextBlob, Plaintext string }

// Name implements seal.Keeper.
func (k *awsKMS) Name() string { return AWS }

// Wrap implements seal.Keeper.
func (k *awsKMS) Wrap(ctx context.Context, key []byte) (string, error) {
	found, err := k.call(ctx, "Encrypt", map[string]string{"KeyId": k.o.Key,
		"Plaintext": base64.StdEncoding.EncodeToString(key)})
	return found.CiphertextBlob, err
}

// Unwrap implements seal.Keeper.
func (k *awsKMS) Unwrap(ctx context.Context, wrapped string) ([]byte, error) {
	found, err := k.call(ctx, "Decrypt", map[string]string{"CiphertextBlob": wrapped})
	if err != nil {
		return nil, err
	}
	return decoded(base64.StdEncoding, found.Plaintext, k.what)
}

// Rewrap implements seal.Keeper.
func (k *awsKMS) Rewrap(ctx context.Context, wrapped string) (string, error) {
	found, err := k.call(ctx, "ReEncrypt", map[string]string{"CiphertextBlob": wrapped, "DestinationKeyId": k.o.Key})
	return found.CiphertextBlob, err
}

func (k *awsKMS) call(ctx context.Context, operation string, body map[string]string) (found awsAnswer, err error) {
	err = k.ask(ctx, operation+" with the key "+k.o.Key, &found, func() (*http.Request, error) {
		who := aws.Credentials{AccessKeyID: k.o.Getenv("AWS_ACCESS_KEY_ID"),
			SecretAccessKey: k.o.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: k.o.Getenv("AWS_SESSION_TOKEN")}
		if who.AccessKeyID == "" || who.SecretAccessKey == "" {
			return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
		}
		request, text, err := posted(k.at, body, map[string]string{"Content-Type": "application/x-amz-json-1.1",
			"X-Amz-Target": "TrentService." + operation})
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		return request, v4.NewSigner().SignHTTP(ctx, who, request, hex.EncodeToString(sum[:]), "kms", k.region, time.Now())
	})
	return found, err
}
