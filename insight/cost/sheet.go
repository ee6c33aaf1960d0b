package cost

import (
	_ "embed" // for prices.csv
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed prices.csv
var shipped string

// maxRows bounds a sheet.
const maxRows = 200_000

// hoursPerMonth is what providers count a month as.
const hoursPerMonth = 730

// Sheet is a price sheet.
type Sheet struct {
	byType map[string][]row
	given  Given // what others say, which takes the place of the sheet's
}

// row is a price of a part of resources.
type row struct {
	region    string // "*" for all
	when      []condition
	component string
	quantity  []factor
	monthly   float64 // of one
	source    string
	date      string
	free      bool
}

// condition is that an attribute has a value.
type condition struct{ path, value string }

// factor is a number, or an attribute that has one.
type factor struct {
	path     string
	number   float64 // without a path, or where the attribute has none
	fallback bool
}

// header is the first line of a sheet.
func header() []string {
	return []string{"type", "region", "when", "component", "quantity", "unit", "price", "source", "date"}
}

// Shipped is the sheet that comes with the program.
func Shipped() (*Sheet, error) { return Read(strings.NewReader(shipped)) }

// Read reads a sheet. The error lists what is wrong with which line, up to ten of them.
func Read(r io.Reader) (*Sheet, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = len(header()), true
	first, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("the price sheet: %w", err)
	}
	if !slices.Equal(first, header()) {
		return nil, fmt.Errorf("the price sheet's first line is not %s", strings.Join(header(), ","))
	}
	sheet := &Sheet{byType: map[string][]row{}}
	var faults []error
	for n := 1; len(faults) < 10; n++ {
		record, err := in.Read()
		if err == io.EOF {
			return sheet, errors.Join(faults...)
		}
		if err != nil {
			return nil, fmt.Errorf("the price sheet: %w", err)
		}
		if n > maxRows {
			return nil, fmt.Errorf("the price sheet has more than %d prices", maxRows)
		}
		line, _ := in.FieldPos(0)
		parsed, err := parseRow(record)
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d of the price sheet: %w", line, err))
			continue
		}
		name := strings.Clone(record[0])
		sheet.byType[name] = append(sheet.byType[name], parsed)
	}
	return nil, errors.Join(faults...)
}

func parseRow(record []string) (r row, err error) {
	r = row{region: strings.Clone(record[1]), component: strings.Clone(record[3]), source: strings.Clone(record[7]),
		date: strings.Clone(record[8])}
	if _, err := time.Parse(time.DateOnly, r.date); err != nil {
		return r, fmt.Errorf("the date %q is not like 2006-01-02", r.date)
	}
	if record[0] == "" || r.region == "" || r.component == "" || r.source == "" {
		return r, errors.New("the type, region, component or source is missing")
	}
	if r.monthly, err = strconv.ParseFloat(record[6], 64); err != nil || r.monthly < 0 || r.monthly > 1e9 {
		return r, fmt.Errorf("the price %q is no number from 0 on", record[6])
	}
	switch record[5] {
	case "hour":
		r.monthly *= hoursPerMonth
	case "month":
	case "free":
		r.free, r.monthly = true, 0
	default:
		return r, fmt.Errorf("the unit %q is none of hour, month, free", record[5])
	}
	if record[2] != "" {
		for text := range strings.SplitSeq(record[2], ";") {
			path, value, ok := strings.Cut(text, "=")
			if !ok || path == "" {
				return r, fmt.Errorf("the condition %q is not like attribute=value", text)
			}
			r.when = append(r.when, condition{strings.Clone(path), strings.Clone(value)})
		}
	}
	r.quantity, err = parseQuantity(record[4])
	return r, err
}

// parseQuantity reads factors: numbers, and attributes such as size or size?8, for 8 without one.
func parseQuantity(text string) (list []factor, err error) {
	for one := range strings.SplitSeq(text, "*") {
		f := factor{}
		if number, err := strconv.ParseFloat(one, 64); err == nil {
			f.number = number
		} else {
			otherwise := ""
			f.path, otherwise, f.fallback = strings.Cut(strings.Clone(one), "?")
			if f.fallback {
				if f.number, err = strconv.ParseFloat(otherwise, 64); err != nil {
					return nil, fmt.Errorf("the quantity %q is no number", otherwise)
				}
			}
			if f.path == "" {
				return nil, fmt.Errorf("the quantity %q is neither a number nor an attribute", one)
			}
		}
		list = append(list, f)
	}
	return list, nil
}
