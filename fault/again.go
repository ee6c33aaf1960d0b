package fault

// tries is how often Again tries something.
const tries = 16

// Again does something anew, beginning with what there is by then, as long as it fails with ChangedMeanwhile, and
// gives up after some tries.
func Again[T any](try func() (T, error)) (done T, err error) {
	for range tries {
		if done, err = try(); !Is(err, ChangedMeanwhile) {
			break
		}
	}
	return done, err
}
