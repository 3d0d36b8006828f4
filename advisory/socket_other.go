//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package advisory

import (
	"net"
	"syscall"
)

func quiet(syscall.RawConn) bool { return false }

func rawConn(net.Conn) syscall.RawConn { return nil }
