package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a log lost, doubled or turned round is noticed.
func TestLogOfARunAtOnceIsWhole(t *testing.T) {
	lines := []string{"run 3 says $i of 300"}
	for n := range linesAtOnce {
		lines = append(lines, line(3, n+1))
	}
	end := fmt.Sprintf("\nApply complete! Resources: %d added", resourcesAtOnce+1)
	if err := wholeLog(3, strings.Join(lines, "\n")+end); err != nil {
		t.Error(err)
	}
	turned := append([]string{}, lines...)
	turned[7], turned[8] = turned[8], turned[7]
	for name, log := range map[string]string{
		"lost":    strings.Join(lines[:100], "\n") + "\n" + strings.Join(lines[101:], "\n") + end,
		"cut":     strings.Join(lines, "\n") + "\n",
		"doubled": lines[9] + "\n" + strings.Join(lines, "\n") + end, "turned": strings.Join(turned, "\n") + end,
	} {
		if wholeLog(3, log) == nil {
			t.Errorf("a log that was %s counts for whole", name)
		}
	}
}

func TestVerdict(t *testing.T) {
	if got := verdict(time.Second, 1550*time.Millisecond); got != "yes" {
		t.Error(got)
	}
	if got := verdict(time.Second, 1551*time.Millisecond); got != "no: 1.55 s" {
		t.Error(got)
	}
}
