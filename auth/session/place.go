package session

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// Place is where a session is kept. It is no secret: nobody finds a token by it. The zero Place is nowhere.
type Place struct {
	Org  uuid.UUID
	Hash Hash
}

// PlaceOf returns where the session of a token would be kept; the zero Place for what is no token of this
// server's.
func (s *Signer) PlaceOf(token string) Place {
	org, h, ok := s.read(token)
	if !ok {
		return Place{}
	}
	return Place{org, h}
}

// MarshalText writes the organization and the hash with a dot between; nothing for the zero Place.
func (p Place) MarshalText() ([]byte, error) {
	if p == (Place{}) {
		return nil, nil
	}
	return []byte(p.Org.String() + "." + p.Hash.String()), nil
}

// UnmarshalText reads what MarshalText has written.
func (p *Place) UnmarshalText(text []byte) error {
	*p = Place{}
	if len(text) == 0 {
		return nil
	}
	org, hash, _ := strings.Cut(string(text), ".")
	id, err := uuid.Parse(org)
	raw, hashErr := hex.DecodeString(hash)
	if err != nil || hashErr != nil || len(raw) != len(p.Hash) {
		return errors.New("not where a session is kept")
	}
	*p = Place{id, Hash(raw)}
	return nil
}
