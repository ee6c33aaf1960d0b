package mask

import "testing"

// JSON stays JSON, whatever the secrets are.
func TestJSONIsMasked(t *testing.T) {
	m := New([]string{"tok_abcdwXyZ9876", "12345678", "true", "type", "a\"b\\c"})
	const value = `{"type":[true,null,1,12345678,"x tok_abcdwXyZ9876 y","dG9rX2FiY2R3WHlaOTg3Ng==","a\"b\\c"],"tok_abcdwXyZ9876":{}}`
	got, err := m.JSON([]byte(value))
	if want := `{"***":[true,null,1,"***","x *** y","***","***"],"***":{}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	got, err = m.Texts([]byte(value))
	if want := `{"type":[true,null,1,12345678,"x *** y","***","***"],"tok_abcdwXyZ9876":{}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := m.JSON([]byte(`{"a":`)); err == nil {
		t.Errorf("%s of what is no JSON", got)
	}
}
