package advisory_test

import (
	"database/sql"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A proxy stands between a pool and a server, on loopback. It counts round trips on the wire, which no driver can misreport, and can send its clients
// elsewhere.
type proxy struct {
	dsn string

	mu       sync.Mutex
	target   string
	conns    map[net.Conn]bool
	asking   map[int]bool // connections on which the client has spoken last
	trips    int
	nextConn int
	frozen   chan struct{} // closed when traffic goes on; nil while it does
}

// startProxy starts a proxy to the server of a DSN, and stops it when t ends.
func startProxy(t testing.TB, dsn string) *proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{target: u.Host, conns: make(map[net.Conn]bool), asking: make(map[int]bool)}
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()
	p.dsn = u.String()
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		p.thaw()
		listener.Close()
		p.closeAll()
		group.Wait()
	})
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	target := p.target
	id := p.nextConn
	p.nextConn++
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	var group sync.WaitGroup
	group.Go(func() {
		defer server.Close()
		p.copy(server, client, func() { p.asking[id] = true })
	})
	group.Go(func() {
		defer client.Close()
		// A round trip: the client has said something, and the server answers. More of the same answer is no further one.
		p.copy(client, server, func() {
			if p.asking[id] {
				p.asking[id] = false
				p.trips++
			}
		})
	})
	group.Wait()
}

func (p *proxy) copy(to, from net.Conn, note func()) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.mu.Lock()
			note()
			frozen := p.frozen
			p.mu.Unlock()
			if frozen != nil {
				<-frozen
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
}

// freeze makes the network silent: nothing is forwarded, and no connection is closed. thaw ends that, and closes all connections as a network does
// that has forgotten them.
func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

func (p *proxy) thaw() {
	p.mu.Lock()
	frozen := p.frozen
	p.frozen = nil
	p.mu.Unlock()
	if frozen != nil {
		p.closeAll()
		close(frozen)
	}
}

// redirect sends new connections to the server of another DSN, and cuts off those that there are.
func (p *proxy) redirect(dsn string) {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	p.target = u.Host
	p.mu.Unlock()
	p.closeAll()
}

// roundTrips returns the number of round trips so far.
func (p *proxy) roundTrips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

// open opens a pool, and closes it when t ends.
func open(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}
