package layers

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers/cron"
	"github.com/holdfast/holdfast/layers/relevance"
)

// Settings say where a layer's configuration comes from, and what is done by itself. Their JSON is how stores keep
// them.
type Settings struct {
	Repository string   `json:"repository"`
	Branch     string   `json:"branch"`
	Path       string   `json:"path"`               // of the folder; "." is the repository's own
	Triggers   []string `json:"triggers,omitempty"` // patterns of other paths that are relevant

	Remediation Remediation `json:"remediation"`
	// MaxChanges is how many resources an apply that nobody is asked about may change; 0 for the default.
	MaxChanges int      `json:"max_changes,omitempty"`
	Retries    int      `json:"retries,omitempty"` // 0 for the default
	Windows    []Window `json:"windows,omitempty"`
	Drift      Checks   `json:"drift"`
	Ignore     []Rule   `json:"ignore,omitempty"`
}

// Remediation is what is done about a layer that is not what its repository says.
type Remediation string

// The remediations.
const (
	Dry     Remediation = "dry"     // it is planned, and nothing else
	Propose Remediation = "propose" // a run that waits for a person
	Auto    Remediation = "auto"    // applied, where gates let it through and it changes no more than it may
)

// Checks say how often a layer is checked for drift, and how.
type Checks struct {
	Off   bool          `json:"off,omitempty"`
	Every time.Duration `json:"every,omitempty"` // 0 for the default
	Cron  string        `json:"cron,omitempty"`  // instead of Every
	Zone  string        `json:"time_zone,omitempty"`
	// RefreshOnly has checks look for what was changed outside alone. Others are whole plans, which find what differs
	// between configuration and state too: changed data sources, and outputs of other states.
	RefreshOnly bool `json:"refresh_only,omitempty"`
}

// Rule selects drift that is not reported: of the resources whose address a pattern matches, the attributes whose
// path another one matches. The star is any text in both.
type Rule struct {
	Address   string `json:"address"`
	Attribute string `json:"attribute"`
}

const (
	// DefaultEvery is how often a layer is checked for drift.
	DefaultEvery = 20 * time.Minute
	// DefaultMaxChanges is how many resources an apply that nobody is asked about may change.
	DefaultMaxChanges = 10

	leastEvery   = time.Minute
	mostEvery    = 31 * 24 * time.Hour
	mostTriggers = 50
	mostWindows  = 20
	mostRules    = 100
	mostRetries  = 50
	mostChanges  = 100_000
	mostText     = 255
)

// Defaults returns the settings of a layer that says nothing.
func Defaults() Settings { return Settings{Branch: "main", Path: ".", Remediation: Dry} }

// Check returns what is wrong with the settings, as a fault.LayerInvalid.
func (s Settings) Check() error {
	for _, rule := range s.broken() {
		return fault.New(fault.LayerInvalid, "%s: %s", rule.Field, rule.Text)
	}
	return nil
}

// Broken is a rule that settings break.
type Broken struct {
	Field string // as in JSON
	Text  string
}

// broken are all of them.
func (s Settings) broken() (all []Broken) {
	no := func(field, text string) { all = append(all, Broken{field, text}) }
	if s.Repository == "" || len(s.Repository) > mostText {
		no("repository", "it is the name of a repository")
	}
	if s.Branch == "" || len(s.Branch) > mostText || strings.HasPrefix(s.Branch, "-") {
		no("branch", "it is the name of a branch")
	}
	if !isFolder(s.Path) {
		no("path",
			"it is a folder of the repository, without . and .. and a / at its ends; . alone is the whole repository")
	}
	if !slices.Contains([]Remediation{Dry, Propose, Auto}, s.Remediation) {
		no("remediation", "it is dry, propose or auto")
	}
	if s.MaxChanges < 0 || s.MaxChanges > mostChanges {
		no("max_changes", "it is 1 to 100000, or 0 for the default")
	}
	if s.Retries < 0 || s.Retries > mostRetries {
		no("retries", "it is 1 to 50, or 0 for the default")
	}
	if len(s.Triggers) > mostTriggers {
		no("triggers", "there are at most 50")
	}
	for _, pattern := range s.Triggers {
		if why := relevance.CheckPattern(pattern); why != "" {
			no("triggers", why)
		}
	}
	return slices.Concat(all, brokenWindows(s.Windows), s.Drift.broken(), brokenRules(s.Ignore))
}

func isFolder(text string) bool {
	return text == "." || text != "" && len(text) <= 1000 && path.Clean(text) == text && !path.IsAbs(text) &&
		text != ".." &&
		!strings.HasPrefix(text, "../") && !strings.ContainsAny(text, "\x00\n\\")
}

func (c Checks) broken() (all []Broken) {
	if c.Every != 0 && (c.Every < leastEvery || c.Every > mostEvery) {
		all = append(all, Broken{"drift.every", "it is 1 minute to 31 days"})
	}
	if c.Every != 0 && c.Cron != "" {
		all = append(all, Broken{"drift", "every and cron are one or the other"})
	}
	if c.Cron == "" && c.Zone != "" {
		all = append(all, Broken{"drift.time_zone", "it is that of cron, which is not there"})
	}
	if c.Cron != "" {
		if _, err := cron.Parse(c.Cron, c.Zone); err != nil {
			all = append(all, Broken{"drift.cron", err.Error()})
		}
	}
	return all
}

func brokenRules(rules []Rule) (all []Broken) {
	if len(rules) > mostRules {
		all = append(all, Broken{"ignore", "there are at most 100"})
	}
	for _, r := range rules {
		if r.Address == "" || r.Attribute == "" || len(r.Address) > 1000 || len(r.Attribute) > 1000 {
			all = append(all, Broken{"ignore", "each has an address and an attribute, which may have stars"})
		}
	}
	return all
}

// Due is when a layer that was checked then is to be checked again; zero for never. Without a schedule, checks of many
// layers spread by a tenth of their time.
func (c Checks) Due(layer string, checked time.Time) time.Time {
	switch {
	case c.Off || checked.IsZero():
		return time.Time{}
	case c.Cron != "":
		schedule, err := cron.Parse(c.Cron, c.Zone)
		if err != nil {
			return time.Time{}
		}
		return schedule.Next(checked)
	}
	every := cmp.Or(c.Every, DefaultEvery)
	spread := 1 + (Jitter(layer, checked.Unix())-1)/5
	return checked.Add(time.Duration(float64(every) * spread)).Truncate(time.Microsecond)
}

// Terms are the settings as conditions need them.
func (s Settings) Terms(layer string, checked time.Time) Terms {
	return Terms{Due: s.Drift.Due(layer, checked), Retries: s.Retries}
}
