package inventory

import "context"

// AppendEach is AppendAll for a store that can't do better than to append one batch after
// the other.
func AppendEach(ctx context.Context, store interface {
	Append(context.Context, Batch) (Receipt, error)
}, batches []Batch) ([]Receipt, error) {
	receipts := make([]Receipt, 0, len(batches))
	for _, batch := range batches {
		receipt, err := store.Append(ctx, batch)
		if err != nil {
			return receipts, err
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}
