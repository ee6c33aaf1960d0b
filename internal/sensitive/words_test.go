package sensitive

import (
	"archive/tar"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestPlainWords(t *testing.T) {
	for _, plain := range []string{
		"admin", "eu-west", "eu-west-1", "us_east-2", "europe-west1", "prod", "Production", "EU", "postgres", "northamerica",
		"true", "none", "development", "blue_green",
	} {
		if !isPlainWord(plain) {
			t.Errorf("%q is none", plain)
		}
	}
	for _, secret := range []string{
		"", "12345678", "hunter2", "1-2-3", "s3cr3t", "correct-horse-battery", "xkcdpwgn", "aB3dE6gH", "AKIAIOSFODNN7",
		"deadbeef01", "QzXwJvKp", "mXyTsEcret", "eu.west", "eu west", "eu-west-12345", "ümlaut", "p@ss", "zqxjzq", "-_-",
		"abcdefghijklmnopq", "a1-b2-c3", "prod123",
	} {
		if isPlainWord(secret) {
			t.Errorf("%q is a plain word", secret)
		}
	}
}

// Of generated values as good as none looks like words, and with digits among them none does.
func TestGeneratedValuesAreNoPlainWords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	share := func(letters string, n int) float64 {
		plain := 0
		for range 20_000 {
			value := make([]byte, n)
			for i := range value {
				value[i] = letters[random.IntN(len(letters))]
			}
			if isPlainWord(string(value)) {
				plain++
			}
		}
		return float64(plain) / 20_000
	}
	const small = "abcdefghijklmnopqrstuvwxyz"
	for n, most := range map[int]float64{10: 0.15, 12: 0.12, 13: 0, 16: 0} {
		if got := share(small, n); got > most {
			t.Errorf("%.3f of %d small letters are plain words", got, n)
		}
	}
	for n, most := range map[int]float64{8: 0.02, 12: 0.001, 16: 0} {
		if got := share(small+strings.ToUpper(small)+"0123456789", n); got > most {
			t.Errorf("%.4f of %d letters and digits are plain words", got, n)
		}
	}
}

func archive(t *testing.T, files ...string) func(io.Writer) error {
	return func(to io.Writer) error {
		w := tar.NewWriter(to)
		for i := 0; i < len(files); i += 2 {
			err := errors.Join(w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}))
			if err == nil {
				_, err = io.WriteString(w, files[i+1])
			}
			if err != nil {
				return err
			}
		}
		return w.Close()
	}
}

func TestWordsOfAConfiguration(t *testing.T) {
	values := []string{"eu-west", "admin", "hunter2", "prod", "green", "blue", "staging", "tenant", "long"}
	got, err := WordsIn(values, archive(t,
		"main.tf", `region = "eu-west" # hunter2`+"\n"+`user = var.admin; a = "prod-1"; b = "subprod"; c = "prodü"`,
		"notes.md", "green",
		"x/y.auto.tfvars", "name = \"blue\"",
		"x/z.tf.json", `{"staging":1}`,
		"terragrunt.hcl", strings.Repeat("x", 100_000)+"long tenant",
	))
	if want := []string{"admin", "blue", "eu-west", "staging", "tenant"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if got := Without(values, got); !slices.Equal(got, []string{"hunter2", "prod", "green", "long"}) {
		t.Errorf("left are %q", got)
	}
}

func TestNothingIsReadWithoutPlainWords(t *testing.T) {
	got, err := WordsIn([]string{"hunter2", `["admin"]`}, func(io.Writer) error { t.Error("it is written"); return nil })
	if len(got) > 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// What can't be read has no words, and what is too much is not read to its end.
func TestConfigurationsThatCantBeRead(t *testing.T) {
	broken := errors.New("broken")
	got, err := WordsIn([]string{"admin"}, func(io.Writer) error { return broken })
	if len(got) > 0 || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
	got, err = WordsIn([]string{"admin", "prod"}, func(to io.Writer) error {
		w := tar.NewWriter(to)
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		must(w.WriteHeader(&tar.Header{Name: "a.tf", Mode: 0o644, Size: 4}))
		_, err := io.WriteString(w, "prod")
		must(err)
		must(w.WriteHeader(&tar.Header{Name: "b.tf", Mode: 0o644, Size: 1 << 40}))
		for n := 0; ; n++ {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
			if n > 2*maxRead>>20 {
				t.Error("it is read to its end")
				return broken
			}
		}
	})
	if !slices.Equal(got, []string{"prod"}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
