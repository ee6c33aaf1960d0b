package changes

import "bytes"

// lines makes lines of pieces. Of a line that is too long it gives the beginning.
type lines struct {
	rest []byte
	cut  bool // whether rest is the beginning of a line whose middle was passed over
}

// write calls line for each line that p ends, without the line's end.
func (l *lines) write(p []byte, line func(line []byte, cut bool)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.hold(p)
			return
		}
		if len(l.rest) == 0 && !l.cut && i <= maxLine {
			line(bytes.TrimSuffix(p[:i], []byte("\r")), false)
		} else {
			l.hold(p[:i])
			l.end(line)
		}
		p = p[i+1:]
	}
}

func (l *lines) hold(p []byte) {
	if room := maxLine - len(l.rest); len(p) > room {
		p, l.cut = p[:room], true
	}
	l.rest = append(l.rest, p...)
}

// end gives what is held as a line, if anything is.
func (l *lines) end(line func(line []byte, cut bool)) {
	if len(l.rest) > 0 || l.cut {
		line(bytes.TrimSuffix(l.rest, []byte("\r")), l.cut)
	}
	l.rest, l.cut = l.rest[:0], false
}
