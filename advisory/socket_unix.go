//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package advisory

import (
	"net"
	"syscall"
)

// quiet waits until there is something to read from a socket, or its end, and leaves it there. It returns false when the read deadline is over.
func quiet(conn syscall.RawConn) (stirred bool) {
	var buf [1]byte
	err := conn.Read(func(fd uintptr) bool {
		for {
			_, _, err := syscall.Recvfrom(int(fd), buf[:], syscall.MSG_PEEK)
			if err != syscall.EINTR {
				return err != syscall.EAGAIN
			}
		}
	})
	return err == nil
}

// rawConn returns what quiet needs, or nil.
func rawConn(conn net.Conn) syscall.RawConn {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
