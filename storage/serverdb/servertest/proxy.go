package servertest

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy stands between a client and a server and breaks connections when it is told to.
// Connections through it must not be encrypted.
type Proxy struct {
	ListenPort int // at 127.0.0.1
	target     string
	listener   net.Listener
	serving    sync.WaitGroup

	mu     sync.Mutex
	links  map[*link]bool
	broken bool
	delay  time.Duration // of what clients say
	plan   *plan         // nil lets everything through
}

// plan says when a connection is to be cut next.
type plan struct {
	bytes int64  // so many more from the client, when text is nil
	text  []byte // once the server has answered to this, and before the client hears of it
}

// link is a connection to the proxy with the one that leads on.
type link struct {
	client, server net.Conn
	once           sync.Once
	mute           bool // of what the server says, nothing is passed on; guarded by Proxy.mu
}

func (l *link) cut() { l.once.Do(func() { _ = l.client.Close(); _ = l.server.Close() }) }

// NewProxy returns a proxy that leads to host:port. The caller closes it.
func NewProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{ListenPort: listener.Addr().(*net.TCPAddr).Port, target: target, listener: listener,
		links: map[*link]bool{}}
	p.serving.Go(p.serve)
	return p, nil
}

// Break cuts every connection, and those to come, until Mend.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = true
	p.cutAll()
}

// Mend lets connections through again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken, p.plan = false, nil
}

// Delay has whatever clients say from now on arrive so much later, as on a slow network; 0 for
// at once.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// CutAfter cuts one connection in the middle of a request: after n more bytes from
// clients.
func (p *Proxy) CutAfter(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = &plan{bytes: n}
}

// CutAnswer cuts one connection after a request with this text in it: the server has
// carried it out, and the client never learns.
func (p *Proxy) CutAnswer(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = &plan{text: []byte(text)}
}

// Pending says whether CutAfter or CutAnswer has not cut anything yet.
func (p *Proxy) Pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan != nil
}

// Close cuts every connection and ends the proxy.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Break()
	p.serving.Wait()
	return err
}

func (p *Proxy) cutAll() {
	for l := range p.links {
		l.cut()
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.serving.Go(func() { p.connect(client) })
		}
	}
}

func (p *Proxy) connect(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := &link{client: client, server: server}
	defer l.cut()
	if !p.enter(l) {
		return
	}
	defer p.leave(l)
	var answers sync.WaitGroup
	answers.Go(func() { p.forward(l, client, server, p.admitAnswer) })
	p.forward(l, server, client, p.admit)
	answers.Wait()
}

func (p *Proxy) enter(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links[l] = true
	return !p.broken
}

func (p *Proxy) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}
