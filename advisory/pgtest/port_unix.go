//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

var errPortTaken = errors.New("the port was taken by another process")

// Ports are chosen below the range from which Linux (32768) and macOS (49152) take
// the local ports of outgoing connections: a server that is down for a moment
// could not come back on a port that a client has been given meanwhile.
const minPort, maxPort = 15000, 32767

// freePort finds a TCP port on 127.0.0.1 which nobody listens on. Another process
// may take it before the server does: the caller must be ready for that.
var freePort = func() (int, error) {
	const tries = 100
	var err error
	for range tries {
		port := minPort + rand.IntN(maxPort-minPort+1)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("pgtest: no free port on 127.0.0.1 between %d and %d: %w", minPort, maxPort, err)
}
