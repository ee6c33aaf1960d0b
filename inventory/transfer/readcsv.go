package transfer

import (
	"errors"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// ReadCSV is ReadNDJSON for CSV, as the CSV store keeps it.
func ReadCSV(src io.Reader) iter.Seq2[inventory.Record, error] {
	return func(yield func(inventory.Record, error) bool) {
		rows := csvrow.NewReader(src, 0, 1)
		if err := readHeader(rows); err != nil {
			yield(inventory.Record{}, err)
			return
		}
		for {
			record, err := readRow(rows)
			if errors.Is(err, io.EOF) || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func readHeader(rows *csvrow.Reader) error {
	err := rows.Next()
	if err == nil && csvrow.IsHeader(&rows.Row) {
		return nil
	}
	if _, syntax := errors.AsType[*csvrow.SyntaxError](err); err != nil && !syntax && !errors.Is(err, io.EOF) &&
		!errors.Is(err, csvrow.ErrShort) {
		return err
	}
	return &LineError{1, errors.New("it is not the header " +
		"timestamp,org_id,provider,category,resource_type,resource_name,attributes")}
}

func readRow(rows *csvrow.Reader) (inventory.Record, error) {
	err := rows.Next()
	if errors.Is(err, csvrow.ErrShort) {
		return inventory.Record{}, &LineError{rows.Line, err}
	}
	if syntax, ok := errors.AsType[*csvrow.SyntaxError](err); ok {
		return inventory.Record{}, &LineError{syntax.Line, errors.New(syntax.Reason)}
	}
	if err != nil {
		return inventory.Record{}, err
	}
	record, err := parseRow(&rows.Row)
	if err != nil {
		return inventory.Record{}, &LineError{rows.Line, err}
	}
	return record, nil
}

func parseRow(row *csvrow.Row) (inventory.Record, error) {
	if len(row.Fields) != 7 {
		return inventory.Record{}, errors.New("the row does not have 7 columns")
	}
	// Or what stands behind the object would become part of the report.
	if err := csvrow.CheckAttributes(row); err != nil {
		return inventory.Record{}, err
	}
	report := []byte{'{'}
	for i, name := range []string{"provider", "category", "resource_type", "resource_name"} {
		if !utf8.Valid(row.Fields[2+i]) {
			return inventory.Record{}, errors.New(name + " is not in UTF-8")
		}
		report = jsonscan.AppendQuote(append(report, `"`+name+`":`...), string(row.Fields[2+i]))
		report = append(report, ',')
	}
	report = append(append(report, `"attributes":`...), row.Fields[6]...)
	return makeRecord(string(row.Fields[0]), string(row.Fields[1]), append(report, '}'))
}
