package sqlnotices

import "github.com/holdfast/holdfast/storage/moving"

// Shapes say how the database keeps the records of an outbox.
func Shapes(waiting, position moving.Table) []moving.Shape {
	return []moving.Shape{{Table: waiting, Into: "notices"}, {Table: position, Into: "notice_position"}}
}
