package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/holdfast/holdfast/api"
)

// The most that a file of waivers may have.
const (
	maxWaivers     = 5000
	maxWaiverBytes = 1 << 20
)

// Waivers let findings be, each until a day.
type Waivers struct{ list []waiver }

// With returns these waivers and others.
func (w Waivers) With(others Waivers) Waivers {
	return Waivers{append(append([]waiver(nil), w.list...), others.list...)}
}

// waiver is one of them.
type waiver struct {
	rule     string
	resource *regexp.Regexp
	until    time.Time // the day after the last one
	said     api.InsightWaiver
}

// wireWaivers is a file of waivers.
type wireWaivers struct {
	Waivers []struct {
		Rule     string `yaml:"rule"`
		Resource string `yaml:"resource"`
		Owner    string `yaml:"owner"`
		Reason   string `yaml:"reason"`
		Expires  string `yaml:"expires"`
	} `yaml:"waivers"`
}

// ReadWaivers reads a YAML file of waivers. Each has a rule, a resource, in which * stands for
// anything, an owner, a reason and the last day on which it counts. The error lists all faults.
func ReadWaivers(r io.Reader) (Waivers, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxWaiverBytes+1))
	if err != nil {
		return Waivers{}, err
	}
	if len(raw) > maxWaiverBytes {
		return Waivers{}, fmt.Errorf("the waivers have more than %d bytes", maxWaiverBytes)
	}
	var wire wireWaivers
	if err := yaml.NewDecoder(bytes.NewReader(raw), yaml.DisallowUnknownField()).Decode(&wire); err != nil &&
		err != io.EOF {
		return Waivers{}, fmt.Errorf("the waivers: %w", err)
	}
	if len(wire.Waivers) > maxWaivers {
		return Waivers{}, fmt.Errorf("there are more than %d waivers", maxWaivers)
	}
	all, faults := Waivers{}, []error(nil)
	for i, w := range wire.Waivers {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("waiver %d: %s", i+1, fmt.Sprintf(format, args...)))
		}
		for _, need := range []struct{ name, value string }{{"rule", w.Rule}, {"resource", w.Resource}, {"owner", w.Owner},
			{"reason", w.Reason}} {
			if strings.TrimSpace(need.value) == "" {
				fault("it has no %s", need.name)
			}
		}
		day, err := time.Parse(time.DateOnly, w.Expires)
		if err != nil {
			fault("it expires on %q, which is no day like 2006-01-02", w.Expires)
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(w.Resource), `\*`, `.*`)
		all.list = append(all.list, waiver{rule: w.Rule, resource: regexp.MustCompile(`^(?s:` + pattern + `)$`),
			until: day.AddDate(0, 0, 1), said: api.InsightWaiver{Owner: w.Owner, Reason: w.Reason, Expires: w.Expires}})
	}
	return all, errors.Join(faults...)
}

// Of returns why a finding is let be; nil where it isn't.
func (w Waivers) Of(f api.InsightFinding, now time.Time) *api.InsightWaiver {
	for _, one := range w.list {
		if one.rule == f.Rule && now.Before(one.until) && one.resource.MatchString(f.Resource) {
			return &one.said
		}
	}
	return nil
}
