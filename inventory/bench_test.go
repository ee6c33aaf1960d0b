package inventory

import (
	"testing"

	"github.com/holdfast/holdfast/bench/sample"
)

// BenchmarkParse reads a report of 100 instances, and looks for secrets in it or not.
func BenchmarkParse(b *testing.B) {
	names, err := NewSecretNames([]string{"password", "secret", "token", "credential", "private_key", "api_key"})
	if err != nil {
		b.Fatal(err)
	}
	body := sample.NewUpload(100, 1).Bytes()
	for _, policy := range []SecretPolicy{AcceptSecrets, MaskSecrets} {
		b.Run(string(policy), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseWith(body, Secrets{policy, names}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
