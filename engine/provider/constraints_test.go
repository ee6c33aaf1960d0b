package provider_test

import (
	"testing"

	"github.com/holdfast/holdfast/engine/provider"
)

func TestConstraintsAreAsLockFilesHaveThem(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{">= 1"}, ">= 1.0.0"},
		{[]string{"1.2", "= 1.2.0"}, "1.2.0"},
		{[]string{"~>1.2", "~> 1.2.0", "~> 2"}, "~> 1.2.0, ~> 1.2, ~> 2.0"},
		{[]string{"< 2, >= 0.1", ">=0.1.0"}, ">= 0.1.0, < 2.0.0"},
		{[]string{"!= 1.0.0", "> 1.0.0", "<= 1.0.0"}, "> 1.0.0, <= 1.0.0, != 1.0.0"},
		{[]string{">= 1.0.0-beta1"}, ">= 1.0.0-beta1"},
		{[]string{">= 10", ">= 9"}, ">= 9.0.0, >= 10.0.0"},
		{[]string{"any", "1"}, "any, 1"},
	} {
		if got := provider.Constraints(c.texts...); got != c.want {
			t.Errorf("%q are %q, want %q", c.texts, got, c.want)
		}
	}
}
