package plainlog

import "strings"

// Reason keeps of why something is as it is which phase failed, and what the server itself says behind that: what a
// tool has said of it may have values of a state.
func Reason(text string) string {
	for _, said := range []string{" failed: ", " refused: "} {
		if before, after, ok := strings.Cut(text, said); ok {
			text = before + strings.TrimSuffix(said, ": ")
			if at := strings.LastIndex(after, "; the state is at version "); at >= 0 {
				text += after[at:]
			}
			return text
		}
	}
	return text
}
