package state

import "testing"

func TestWithSerial(t *testing.T) {
	for body, want := range map[string]string{
		`{"serial":1}`: `{"serial":42}`,
		"{ \"version\": 4,\n  \"serial\" : 7 ,\"a\":[{\"serial\":3}]}\n": "{ \"version\": 4,\n  \"serial\" : 42 ,\"a\":[{\"serial\":3}]}\n",
		`{"s\u0065rial":18446744073709551615}`:                           `{"s\u0065rial":42}`,
	} {
		// With more capacity than length, as buffers have.
		got, err := withSerial(append(make([]byte, 0, 1000), body...), 42)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
	if _, err := withSerial([]byte(`{"version":4}`), 1); err == nil {
		t.Error("a state without a serial got one")
	}
}
