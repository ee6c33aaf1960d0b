package projects

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/runs"
)

// Position is a place in the logs of a run: of one stage of one attempt. The zero Position is the beginning.
type Position struct {
	stage   runs.Stream
	attempt int
	offset  int64
}

func begin() Position { return Position{runs.Stream(runs.PlanStage), 1, 0} }

// String is the position as ParsePosition reads it.
func (at Position) String() string { return fmt.Sprintf("%s:%d:%d", at.stage, at.attempt, at.offset) }

// ParsePosition reads a position that a stream has told; the empty text is the beginning.
func ParsePosition(text string) (at Position, ok bool) {
	if text == "" {
		return Position{}, true
	}
	stage, rest, _ := strings.Cut(text, ":")
	attempt, offset, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseUint(attempt, 10, 31)
	m, err2 := strconv.ParseUint(offset, 10, 62)
	isStage := stage == string(runs.PlanStage) || stage == string(runs.ApplyStage)
	return Position{runs.Stream(stage), int(n), int64(m)}, isStage && err == nil && err2 == nil && n > 0
}

// next is the log behind this one: the apply of the same attempt, or the plan of the next. An attempt that has only
// one of them has nothing in the other.
func (at Position) next(run runs.Run) (Position, bool) {
	if at.stage == runs.Stream(runs.PlanStage) && run.Kind.Mutates() {
		return Position{runs.Stream(runs.ApplyStage), at.attempt, 0}, true
	}
	if at.attempt < run.Attempt {
		return Position{runs.Stream(runs.PlanStage), at.attempt + 1, 0}, true
	}
	return at, false
}
