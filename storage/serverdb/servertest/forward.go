package servertest

import (
	"bytes"
	"io"
	"time"
)

// forward copies until the connection ends, or until admit lets only a part through.
func (p *Proxy) forward(l *link, to io.Writer, from io.Reader, admit func(*link, []byte) int) {
	defer l.cut()
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		pass := admit(l, buffer[:n])
		if _, failed := to.Write(buffer[:pass]); failed != nil || err != nil || pass < n {
			return
		}
	}
}

// admit returns how much of what the client says goes on to the server.
func (p *Proxy) admit(l *link, data []byte) int {
	time.Sleep(p.delayed())
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.plan == nil:
	case p.plan.text != nil:
		if bytes.Contains(data, p.plan.text) {
			l.mute, p.plan = true, nil
		}
	case p.plan.bytes < int64(len(data)):
		n := int(p.plan.bytes)
		p.plan = nil
		return n
	default:
		p.plan.bytes -= int64(len(data))
	}
	return len(data)
}

// admitAnswer is admit for what the server says.
func (p *Proxy) admitAnswer(l *link, data []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.mute {
		return 0
	}
	return len(data)
}

func (p *Proxy) delayed() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}
