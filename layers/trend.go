package layers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Day is a day in UTC: how many there were since 1970.
type Day int64

// DayOf returns the day on which a time is.
func DayOf(t time.Time) Day { return Day(t.Unix() / int64(24*time.Hour/time.Second)) }

// Time returns when the day begins.
func (d Day) Time() time.Time { return time.Unix(int64(d)*int64(24*time.Hour/time.Second), 0).UTC() }

// MostDays is how many days of a layer are kept, and how many can be asked for.
const MostDays = 400

// Tally is what the end of a run adds to the numbers of a layer's day.
type Tally struct {
	Day     Day
	Checks  int // 1 for a check
	Found   int // 1 for a check that has found drift which nobody expects
	Drifted int // resources, from then on
	Fresh   int // resources that had not drifted before
	Healed  int // resources that are as planned again
}

// Trend is a day in numbers, of one layer or of several together.
type Trend struct {
	Day           Day
	Checks, Found int
	Layers        int // that were checked
	Drifted       int // layers, at the end of the day
	Resources     int // that had drifted in those
	Fresh, Healed int
}

// TrendQuery selects days of an organization's layers.
type TrendQuery struct {
	Org      uuid.UUID
	Layer    string                 // empty for all
	Sees     func(name string) bool // which of all count; nil for each
	From, To Day
}

// Add adds the numbers of other layers.
func (t Trend) Add(other Trend) Trend {
	return Trend{t.Day, t.Checks + other.Checks, t.Found + other.Found, t.Layers + other.Layers,
		t.Drifted + other.Drifted, t.Resources + other.Resources, t.Fresh + other.Fresh, t.Healed + other.Healed}
}

// tally is what a report adds to the day on which its run has ended.
func (c CheckPoint) tally(ended time.Time) *Tally {
	return &Tally{Day: DayOf(ended), Drifted: c.Drifted, Fresh: c.Fresh, Healed: c.Healed}
}

// Trend returns so many days in numbers, the last of which is today, of the layers that the caller may see. Fault:
// ParameterInvalid.
func (s *Service) Trend(ctx context.Context, p auth.Principal, days int) ([]Trend, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadWorkspace); err != nil {
		return nil, err
	}
	q := TrendQuery{Org: p.Org}
	if p.States != nil {
		q.Sees = p.States.Match
	}
	return s.trend(ctx, q, days)
}

// LayerTrend returns so many days of a layer in numbers. Faults: ParameterInvalid, LayerNotFound.
func (s *Service) LayerTrend(ctx context.Context, p auth.Principal, name string, days int) ([]Trend, error) {
	if _, err := s.Get(ctx, p, name); err != nil {
		return nil, err
	}
	return s.trend(ctx, TrendQuery{Org: p.Org, Layer: name}, days)
}

func (s *Service) trend(ctx context.Context, q TrendQuery, days int) ([]Trend, error) {
	if days < 1 || days > MostDays {
		return nil, fault.New(fault.ParameterInvalid, "days is a number from 1 to %d", MostDays)
	}
	q.To = DayOf(s.clock())
	q.From = q.To - Day(days) + 1
	counted, err := s.Store.Trend(ctx, q)
	if err != nil {
		return nil, err
	}
	all := make([]Trend, days)
	for i := range all {
		all[i].Day = q.From + Day(i)
	}
	for _, day := range counted {
		all[day.Day-q.From] = day
	}
	return all, nil
}
