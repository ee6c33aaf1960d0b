package layers

// mostDriftBytes is how many bytes the texts of a report have: with all else that is kept of a layer it fits in a row.
const mostDriftBytes = 128 << 10

// fitting leaves out of a report what is too much to be kept: attributes by name first, then whole resources.
func fitting(all []Resource) []Resource {
	left := mostDriftBytes
	for i, r := range all {
		bytes, names := len(r.Address)+len(r.Type)+len(r.Provider)+len(r.ID), 0
		for _, name := range r.Attributes {
			names += len(name)
		}
		if bytes+names > left {
			all[i].Attributes, names = []string{WholeResource}, len(WholeResource)
		}
		if left -= bytes + names; left < 0 {
			return all[:i]
		}
	}
	return all
}
