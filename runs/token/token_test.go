package token

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

var (
	noon   = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	secret = [SecretLength]byte{1, 2, 3}
	claims = Claims{
		Run: "01JD0000000000000000000000", Org: uuid.MustParse("11111111-2222-3333-4444-555555555555"), Epoch: 7,
		Stage: auth.RunPlan, State: "prod/network", Version: 1<<64 - 1, Expires: noon.Add(time.Hour),
	}
)

func TestRoundTrip(t *testing.T) {
	for name, c := range map[string]Claims{
		"plan": claims,
		"apply": {Run: "r", Org: claims.Org, Epoch: 1, Stage: auth.RunApply, State: strings.Repeat("s", 255),
			Removes: 3, Resources: -1, Expires: noon.Add(time.Second)},
		"zero": {Expires: noon.Add(time.Second)},
	} {
		signed := NewSigner(secret).Sign(c)
		if !auth.IsRunToken(signed) || auth.IsToken(signed) ||
			strings.Trim(signed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("%s: %s doesn't look like a run's token", name, signed)
		}
		got, err := NewSigner(secret).Parse(signed, noon)
		if err != nil || got != c {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c)
		}
	}
}

// Whatever is changed about a token, or about the secret, it is not accepted.
func TestChangedTokensAreRefused(t *testing.T) {
	s := NewSigner(secret)
	good := s.Sign(claims)
	for i := range len(good) {
		for _, c := range []byte{'A', 'B', '_', '='} {
			if good[i] == c {
				continue
			}
			wantRefused(t, s, good[:i]+string(c)+good[i+1:])
		}
		wantRefused(t, s, good[:i])
	}
	for _, text := range []string{"", auth.RunTokenPrefix, good + "A", good + "\n", " " + good, strings.ToUpper(good),
		good + strings.Repeat("A", 1<<20)} {
		wantRefused(t, s, text)
	}
	wantRefused(t, NewSigner([SecretLength]byte{1, 2, 4}), good)
	otherFormat := append([]byte{format + 1}, []byte(`{}`)...)
	wantRefused(t, s, auth.RunTokenPrefix+
		base64.RawURLEncoding.EncodeToString(append(otherFormat, sum(s.key, otherFormat)...)))
}

func wantRefused(t *testing.T, s *Signer, text string) {
	t.Helper()
	if got, err := s.Parse(text, noon); !fault.Is(err, fault.TokenRefused) || got != (Claims{}) {
		t.Errorf("%.300q: %+v, %v; want it refused", text, got, err)
	}
}

func TestExpiry(t *testing.T) {
	s := NewSigner(secret)
	for at, good := range map[time.Time]bool{claims.Expires.Add(-1): true, claims.Expires: false,
		claims.Expires.Add(time.Hour): false} {
		if _, err := s.Parse(s.Sign(claims), at); (err == nil) != good || err != nil && !fault.Is(err, fault.KeyExpired) {
			t.Errorf("at %s: %v", at, err)
		}
	}
}

// Its principal may do with the run's state what the stage allows, and nothing else.
func TestVerifyRun(t *testing.T) {
	s := NewSigner(secret)
	v := Verifier{s, func() time.Time { return noon }}
	p, err := v.VerifyRun(t.Context(), s.Sign(claims))
	if err != nil || p.Org != claims.Org || p.KeyID != "run."+claims.Run || !p.Expires.Equal(claims.Expires) ||
		p.Role != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if want := (auth.RunGrant{ID: claims.Run, Epoch: 7, Stage: auth.RunPlan, State: claims.State,
		Version: claims.Version}); p.Run == nil || *p.Run != want {
		t.Errorf("%+v, want %+v", p.Run, want)
	}
	if _, err := v.VerifyRun(t.Context(), "hfr_x"); !fault.Is(err, fault.TokenRefused) {
		t.Errorf("%v", err)
	}
}

// FuzzParse: nothing is accepted that was not signed, and what is accepted is spelled in one
// way only.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	s := NewSigner(secret)
	f.Add(s.Sign(claims))
	f.Add(NewSigner([SecretLength]byte{9}).Sign(claims))
	f.Add(auth.RunTokenPrefix)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := s.Parse(text, noon)
		if err != nil {
			if !fault.Is(err, fault.TokenRefused) && !fault.Is(err, fault.KeyExpired) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if s.Sign(c) != text {
			t.Fatalf("%q says %+v, which is spelled otherwise", text, c)
		}
	})
}
