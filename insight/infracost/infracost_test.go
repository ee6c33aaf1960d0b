package infracost_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/infracost"
)

// Costs are those of resources before and after, and none where there is none.
func TestInfracost(t *testing.T) {
	file, err := os.Open("testdata/infracost.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	given, err := infracost.Read(file)
	want := cost.Given{
		"aws_instance.web":     {After: 31.97, HasAfter: true, Source: "Infracost"},
		"aws_db_instance.main": {Before: 14.71, After: 51.94, HasBefore: true, HasAfter: true, Source: "Infracost"},
	}
	if diff := cmp.Diff(want, given); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, text := range []string{"", "{}", "[]", `{"version":"0.2","currency":"EUR","projects":[]}`, `{"projects":[]}`,
		`{"version":"0.2"}`, costing(`"NaN"`), costing(`"-1"`),
		costing(`"1e300"`), costing(`"$3"`), costing(`[]`), costing(`"Inf"`)} {
		if given, err := infracost.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %v", text, given)
		}
	}
	for _, text := range []string{`null`, `"0"`, `12.5`} {
		if _, err := infracost.Read(strings.NewReader(costing(text))); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func costing(monthly string) string {
	return fmt.Sprintf(`{"version":"0.2","currency":"USD","projects":[{"breakdown":{"resources":[{"name":"a.b","monthlyCost":%s}]}}]}`,
		monthly)
}

// TestTooManyValues: a file of a run is not read where reading it would take too much.
func TestTooManyValues(t *testing.T) {
	text := costing(`"3"`)
	if given, err := infracost.ReadOfRun(text, 9); err != nil || given["a.b"].After != 3 {
		t.Errorf("%v, %v", given, err)
	}
	if given, err := infracost.ReadOfRun(text, 8); err == nil {
		t.Errorf("%v", given)
	}
}
