package handlers

// streamWriter writes to a sender, which never holds more than two pieces.
type streamWriter struct{ to *sender }

func (w streamWriter) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		n := min(len(rest), sendAt)
		w.to.piece, rest = append(w.to.piece, rest[:n]...), rest[n:]
		if err := w.to.sendIfDue(); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
