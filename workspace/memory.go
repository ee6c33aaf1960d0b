package workspace

import (
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/seal"
)

const (
	// ListedBytes is what each file of a snapshot takes in memory, with the list that it is read
	// from.
	ListedBytes = 3 << 10
	// editedBytes is what a file takes while a snapshot is made of another one; where its path is
	// known that is pathBytes, and pathCopies of the path.
	editedBytes = 8 << 10
	pathBytes   = 512
	pathCopies  = 3
	// streamedBytes is what a content takes that is kept as it comes: a piece of it, the piece
	// sealed, and what waits for the store.
	streamedBytes = 3 * seal.PieceBytes
	// ComparedBytes is what two files take that are compared line by line.
	ComparedBytes = 8 * maxDiffBytes
)

// hold is what an organization's call acquires memory by.
func (s *Service) hold(org uuid.UUID) budget.Hold { return s.Memory.Hold(budget.Share{Org: org}) }

func bytesToList(e Entry) int64 { return int64(e.Files) * ListedBytes }

func bytesToEdit(files []File) (n int64) {
	for _, f := range files {
		n += pathBytes + pathCopies*int64(len(f.Path))
	}
	return n
}

// held is what a snapshot takes that was read.
func (s Snapshot) held() (n int64) {
	const entry = 256
	for _, f := range s.Files {
		n += entry + int64(len(f.Path))
	}
	return n
}
