package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/durable"
)

// place says where a part of a stage's log is in the log on the server: from the byte At on it is
// there from To on, up to the next place.
type place struct {
	At int64 `json:"at"`
	To int64 `json:"to"`
}

// places are those of a whole log, in order. The first one's At is 0.
//
// A try begins behind what the tries before it have written, which the server says. A next executor
// makes the same log again, and finds what is there. Where it can't, because a phase that was begun
// again goes otherwise, what is other than it was has a place behind all that was shown.
type places []place

const (
	placesFile = "log.places"

	triedAgain = "\n[holdfast: tried again]\n"
	begunAgain = "\n[holdfast: the executor was started anew, and this was begun again]\n"
)

// readPlaces returns the places that a folder's log has, of a try whose log begins at from.
func readPlaces(folder string, from int64) (places, error) {
	all := places{{0, from}}
	raw, err := os.ReadFile(filepath.Join(folder, placesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	return all, err
}

// of returns where bytes are on the server, and how many of them are in one place.
func (p places) of(offset int64, length int) (to int64, n int) {
	i := len(p) - 1
	for i > 0 && p[i].At > offset {
		i--
	}
	n = length
	if i+1 < len(p) {
		n = int(min(int64(length), p[i+1].At-offset))
	}
	return p[i].To + offset - p[i].At, n
}

// back returns the byte of the log that an offset on the server is of, of so many from the first on.
func (p places) back(to, first int64, length int) int64 {
	i := len(p) - 1
	for i > 0 && p[i].To > to {
		i--
	}
	at := p[i].At + to - p[i].To
	if i+1 < len(p) {
		at = min(at, p[i+1].At)
	}
	return min(max(at, first), first+int64(length))
}

// placeAnew puts what follows, from the line on that has the byte at, behind all that the server
// has. It returns where the sender goes on. The place is on disk before anything is written there:
// another executor finds it.
func (s *stage) placeAnew(ctx context.Context, at int64, piece []byte, offset int64) (int64, error) {
	at = offset + int64(bytes.LastIndexByte(piece[:at-offset], '\n')+1)
	server := s.executor.settings.Server
	end, err := server.AppendLog(ctx, s.hold(), 0, nil)
	if err != nil {
		return offset, err
	}
	if end, err = server.AppendLog(ctx, s.hold(), end, []byte(begunAgain)); err != nil {
		return offset, err
	}
	var all places
	for _, before := range s.places {
		if before.At < at {
			all = append(all, before)
		}
	}
	all = append(all, place{at, end})
	raw, err := json.Marshal(all)
	if err == nil {
		err = durable.Write(filepath.Join(s.folder, placesFile), string(raw))
	}
	if err != nil {
		return offset, err
	}
	s.places = all
	return at, nil
}
