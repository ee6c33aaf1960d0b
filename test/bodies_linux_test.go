//go:build e2e

package test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/internal/suite"
)

const (
	bodySize   = 12 * mib  // of each large body, about
	bodyBudget = 128 * mib // for all that are in memory
	bodyAsks   = 40        // at once: four times as many as there is memory for
	bodyPeak   = 450       // MiB that the server may have, with all that is not a body
	unseen     = 6 * mib   // of an answer may be on its way to a reader who takes nothing
	maxUpload  = 9 * mib
	pieceSize  = 3 * mib // that counts for what goes piece by piece
	held       = 4       // answers at least are held at once, for a test that shows something
)

// TestBodiesInMemory has one organization's key ask every route that has to do with bodies
// for large ones, many at once, and take nothing of the answers. The server's memory stays
// bounded, it says how much of it bodies take, and another organization is served.
func TestBodiesInMemory(t *testing.T) {
	suite.Deep(t)
	dir := t.TempDir()
	tenants := addTenants(t, dir+"/auth.cfg", 2)
	if err := authfile.Edit(t.Context(), dir+"/auth.cfg",
		func(d *authfile.Document) error { // for other servers' addresses
			return d.AddAliases(tenants[0].id, authfile.Alias{ID: "e"})
		}); err != nil {
		t.Fatal(err)
	}
	// As in a container: what is garbage is collected before it takes more than that, however busy
	// the machine is. What is alive has to be bounded by the server itself.
	s := newServer(dir, tenantsEnviron(dir, "HOLDFAST_MEMORY_LIMIT=400MiB", "HOLDFAST_STATE_MAX_BYTES=32MiB",
		fmt.Sprintf("HOLDFAST_MAX_BODY_BYTES=%d", bodyBudget),
		"HOLDFAST_STATE_CACHE_BYTES=8MiB", "HOLDFAST_STATE_RATE_LIMIT=off", "HOLDFAST_RATE_LIMIT=off",
		"HOLDFAST_MAX_IN_FLIGHT=200"))
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("%v\n%s", err, s.logTail(20))
		}
	})
	for _, o := range tenants {
		o.base, o.http = s.url, httpClient
	}
	g := glutton{t: t, server: s, me: tenants[0], other: tenants[1]}
	g.prepare()
	asks := bodyRoutes()
	maps.Copy(asks, moreAsks())
	for _, ask := range slices.Sorted(maps.Keys(asks)) {
		t.Run(ask, func(t *testing.T) {
			g := g
			g.t = t
			g.feast(ask, asks[ask])
		})
	}
}

// glutton is an organization that asks for all it can get, beside another one.
type glutton struct {
	t         *testing.T
	server    *server
	me, other *tenant
	candidate string
	runs      runsOfGlutton
}

// largeBody is a state that is large in its output and in its resource, each of which takes
// up half of it and differs from serial to serial.
func largeBody(serial int) string {
	text := strings.Repeat(fmt.Sprintf("%07d ", serial), bodySize/2/8)
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","terraform_version":"1.9.0","outputs":{"k":{"value":"%[2]s","type":"string"}},"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/hashicorp/t\"]","instances":[{"attributes":{"id":"i","text":"%[2]s"}}]}]}`, serial, text)
}

func (g *glutton) prepare() {
	for serial := range 3 {
		for _, path := range []string{"/api/v1/state/x", "/terraform/state/e/p"} {
			g.must(g.me, "POST", path, largeBody(serial+1))
		}
	}
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(g.must(g.me, "POST", "/api/v1/state/x/candidates", largeBody(9))), &made); err != nil {
		g.t.Fatal(err)
	}
	g.candidate = made.ID
	g.must(g.me, "POST", "/api/v1/upload", largeUpload())
	for i := range 40 { // for lists: states with locks of the largest infos
		path := fmt.Sprint("/api/v1/state/locked", i)
		g.must(g.me, "POST", path, sizedState(1, 100))
		g.must(g.me, "LOCK", path, fmt.Sprintf(`{"ID":"i","Info":"%s"}`, strings.Repeat("<", 60_000)))
	}
	g.must(g.other, "POST", "/api/v1/state/mine", sizedState(1, 100_000))
	g.configure()
	g.execute()
}

// largeUpload is one record of maxUpload, in texts of the length that is allowed.
func largeUpload() string {
	const length = 9000
	text := `"` + strings.Repeat("x", length) + `",`
	texts := strings.TrimSuffix(strings.Repeat(text, maxUpload/len(text)-1), ",")
	return `{"provider":"p","category":"c","resource_type":"t","instances":[{"resource_name":"n","attributes":{"texts":[` +
		texts + `]}}]}`
}

// sizedState is one of about this size, with nothing in it.
func sizedState(serial, size int) string {
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8",%s"resources":[]}`, serial, strings.Repeat(" ", size))
}

func (g *glutton) must(o *tenant, method, path, body string) string {
	g.t.Helper()
	start := time.Now()
	answer, err := o.send(method, path, []byte(body))
	if err != nil {
		g.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		g.t.Fatalf("%s %s: %s after %v, %v: %.500s", method, path, answer.Status, time.Since(start), err, text)
	}
	return string(text)
}

// feast asks many times at once, and wants that all is well as long as that goes on.
func (g *glutton) feast(ask string, use bodyUse) {
	g.renew()
	g.forgetPeak()
	meal := g.meal(ask, use)
	g.crowded(meal, use, func(crowd []*guest) {
		if least := leastHeld(use); least > 0 {
			if err := poll(func() error { return g.inFlight(least, bodyBudget+bodySize) }); err != nil {
				g.t.Errorf("while all are there: %v", err)
			}
		}
		g.othersAreServed(ask)
		g.wantTruth(crowd, meal.path, use)
	})
	if use == takesOrder {
		meal.body, meal.whole = meal.parts, true
		g.crowded(meal, use, func(crowd []*guest) {
			g.othersAreServed(ask)
			if err := poll(func() error { return allRefused(crowd) }); err != nil {
				g.t.Error(err)
			}
		})
	}
}

// allRefused wants that each was told that its order is none, or that there is no memory.
func allRefused(crowd []*guest) error {
	for _, one := range crowd {
		one.mu.Lock()
		status := one.status
		one.mu.Unlock()
		if status/100 != 4 && status != http.StatusServiceUnavailable {
			return fmt.Errorf("an order of many parts is answered with %d", status)
		}
	}
	return nil
}

// leastHeld is what counts at least while all are there; 0 where connections may take all.
func leastHeld(use bodyUse) int64 {
	switch use {
	case readsBody, makesBody, sendsList:
		return 0
	case sendsPieces, takesPieces:
		return held * pieceSize
	}
	return held * (bodySize/2 - unseen/2)
}

// crowded has a crowd there during a test, and wants that nothing is left of it afterwards.
func (g *glutton) crowded(m meal, use bodyUse, during func([]*guest)) {
	crowd := g.crowd(m)
	defer func() {
		for _, one := range crowd {
			_ = one.conn.Close()
		}
		if err := poll(func() error { return g.inFlight(0, 0) }); err != nil {
			g.t.Errorf("after all have left: %v; the server's goroutines:\n%s", err, g.stacks())
		}
	}()
	during(crowd)
	g.wantPeak()
}

// othersAreServed reads and writes a state of another organization.
func (g *glutton) othersAreServed(ask string) {
	for serial := range 5 {
		g.must(g.other, "GET", "/api/v1/state/mine", "")
		g.must(g.other, "POST", "/api/v1/state/mine", sizedState(serial+2, 100_000+len(ask)))
		g.must(g.other, "GET", "/api/v1/state/mine?view=redacted", "")
	}
}

// guest is one who asks and takes nothing but the beginning of the answer.
type guest struct {
	conn   net.Conn
	mu     sync.Mutex
	status int // 0 before there is an answer
}

func (g *glutton) crowd(m meal) []*guest {
	length, body := len(m.body), m.body
	if !m.whole && length > 0 {
		body = body[:length-1] // the end never comes
	}
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n", m.method, m.path,
		m.header, m.media, length)
	var all []*guest
	for range bodyAsks {
		conn, err := net.DialTimeout("tcp", g.server.address, answerLimit)
		if err != nil {
			g.t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		one := &guest{conn: conn}
		all = append(all, one)
		go func() { _, _ = io.WriteString(conn, head+body) }() // fails when the server does not want it
		go one.listen()
	}
	return all
}

func (one *guest) listen() {
	answer, err := http.ReadResponse(bufio.NewReaderSize(one.conn, 4<<10), nil)
	if err == nil {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.status = answer.StatusCode
	}
}

// wantTruth wants that what bodies take in memory is no less than what the answers take
// that are being sent, and that those who got none were told that there is no memory.
func (g *glutton) wantTruth(crowd []*guest, path string, use bodyUse) {
	answers := map[int]int{}
	for _, one := range crowd {
		one.mu.Lock()
		answers[one.status]++
		one.mu.Unlock()
	}
	g.t.Logf("answers by status %v", answers)
	least := int64(bodySize - unseen) // of what is made piece by piece, the rest
	if exact := strings.Contains(path, "versions/1") || strings.Contains(path, "version=1") &&
		!strings.Contains(path, "view"); exact {
		least = bodySize
	}
	if strings.Contains(path, "outputs") {
		least = bodySize/2 - unseen
	}
	if use == sendsPieces && !strings.HasSuffix(path, "/stream") { // whose answer begins before there is a piece
		if err := g.inFlight(int64(answers[200])*pieceSize, bodyBudget+bodySize); err != nil {
			g.t.Errorf("with %v: %v", answers, err)
		}
	}
	if use == sendsBody {
		if err := g.inFlight(int64(answers[200])*least, bodyBudget+bodySize); err != nil {
			g.t.Errorf("with %v: %v", answers, err)
		}
	}
	for status := range answers {
		if !slices.Contains([]int{0, 200, 201, 409, 503}, status) &&
			(use != makesBody || status != 404) { // another one has removed it
			g.t.Errorf("some are answered with %d", status)
		}
	}
}

// stacks ends the server, and returns what its goroutines were about: one of them has what is still in memory.
func (g *glutton) stacks() string {
	p := g.server.process
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return err.Error()
	}
	<-p.done
	return g.server.logTail(3000)
}

var (
	inFlightBytes = regexp.MustCompile(`(?m)^holdfast_in_flight_bytes (\S+)$`)
	errNoMetric   = errors.New("there is no holdfast_in_flight_bytes")
)

// inFlight wants that bodies take between so many bytes, as the server says.
func (g *glutton) inFlight(least, most int64) error {
	answer, err := httpClient.Get(g.server.url + "/metrics")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	found := inFlightBytes.FindSubmatch(text)
	if err != nil || found == nil {
		return cmp.Or(err, errNoMetric)
	}
	got, err := strconv.ParseFloat(string(found[1]), 64)
	if n := int64(got); err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d MiB of bodies are in memory, want %d to %d", n/mib, least/mib, most/mib)
	}
	return err
}

// forgetPeak has the server's peak begin anew at what it has now, so that it tells of one route.
func (g *glutton) forgetPeak() {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", g.server.process.cmd.Process.Pid), []byte("5"),
		0); err != nil {
		g.t.Logf("the peak is that of all so far: %v", err)
	}
}

// wantPeak bounds what the server had in memory, beside the pages of its own program, which the system
// can drop at any time.
func (g *glutton) wantPeak() {
	had, program, err := peakOf(g.server.process.cmd.Process.Pid)
	if err != nil || had > bodyPeak {
		g.t.Errorf("the server had %d MiB at its peak, and may have %d: %v", had, bodyPeak, err)
	}
	g.t.Logf("%d MiB at the peak, beside %d MiB of its program", had, program)
}
