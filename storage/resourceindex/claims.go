package resourceindex

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// sqlClaims lists what others of a state's resources there are: rivals in other states, and partners.
const sqlClaims = `SELECT r.address, (SELECT json_group_array(json_array(source, state, address, at)) FROM (
		SELECT o.source, o.state, o.address, o.at FROM ` + rivals + ` AND o.state <> r.state
		UNION SELECT o.source, o.state, o.address, o.at FROM ` + partners + ` AND (` + certain + ` OR ` + alone + `)
		ORDER BY 1, 2, 3 LIMIT @others))
	FROM json_each(@addresses) a CROSS JOIN resources r INDEXED BY resources_place
	WHERE r.org = @org AND r.source = 0 AND r.state = @of AND r.address = a.value AND r.counts = 1 AND `

// Claims implements resources.Finder.
func (x *Index) Claims(ctx context.Context, org uuid.UUID, scope resources.Scope, of state.Name,
	addresses []string) (map[string][]resources.Claim, error) {
	f, known, err := x.find(ctx, org)
	if err != nil || !known {
		return nil, err
	}
	c, err := f.compare(ctx, scope, resources.CoverageQuery{})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(addresses)
	if err != nil {
		return nil, err
	}
	all := map[string][]resources.Claim{}
	_, err = fromTurn(ctx, f, func(scan scan) (none struct{}, err error) {
		address, others := "", ""
		if err := scan(&address, &others); err != nil {
			return none, err
		}
		claims, err := claimsOf(others)
		if len(claims) > 0 {
			all[address] = claims
		}
		return none, err
	}, c.fill(sqlClaims)+c.own, append(c.args, sql.Named("addresses", string(text)),
		sql.Named("of", string(of)), sql.Named("others", resources.MaxOthers))...)
	return all, err
}

func claimsOf(text string) (all []resources.Claim, err error) {
	var rows []row
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, err
	}
	for _, one := range rows {
		all = append(all, resources.Claim{Place: resources.Place{Source: sourceOf(one.source), State: one.state,
			Address: one.address}, At: time.UnixMicro(one.at).UTC()})
	}
	return all, nil
}

// row is a claim as SQLite lists it.
type row struct {
	source  int64
	state   state.Name
	address string
	at      int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *row) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&r.source, &r.state, &r.address, &r.at})
}
