package states

const (
	// slack is by how many times what a change adds an organization's room must be larger, so
	// that the change need not lock the room: as many others may be adding as much at the moment.
	slack = 256
	// leastSlack is for small changes beside large ones.
	leastSlack = 16 << 20
)

// Room implements stateengine.StateTx. Who is far from the end of the room takes it as it is:
// others may add what they add at the same time. Near the end the room is locked until the
// transaction ends, so that what it holds by then is exact.
func (t *tx) Room(adds int64, allow func(used int64) error) (refusal, err error) {
	used, err := t.usage()
	if err != nil {
		return nil, err
	}
	if allow(used+max(slack*adds, leastSlack)) == nil {
		return allow(used), nil
	}
	if _, err := t.Exec(addRoom+t.sql.OrSet("org", "org"), t.ref.Org.String()); err != nil {
		return nil, err
	}
	if used, err = t.usage(); err != nil {
		return nil, err
	}
	return allow(used), nil
}

func (t *tx) usage() (used int64, err error) {
	org := t.ref.Org.String()
	_, err = t.One([]any{&used}, sqlUsage, org, org)
	return used, err
}
