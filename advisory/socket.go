package advisory

import (
	"database/sql"
	"net"
	"reflect"
	"syscall"
	"time"
)

// A socket is the network connection of a session, watched while no statement runs on it: the server says so when it ends a session, and between two statements it says
// nothing else. Without it that is noticed by the next heartbeat.
type socket struct {
	conn net.Conn
	raw  syscall.RawConn
}

// socketOf returns the socket of a connection, or nil if its driver does not show it. Of the drivers known, pgx does.
func socketOf(conn *sql.Conn) (s *socket) {
	conn.Raw(func(driverConn any) error {
		// *stdlib.Conn, *pgx.Conn, *pgconn.PgConn: to name the types would import the driver.
		one := method(reflect.ValueOf(driverConn).MethodByName("Conn"))
		if !one.IsValid() {
			return nil
		}
		two := method(one.MethodByName("PgConn"))
		if !two.IsValid() {
			return nil
		}
		three := method(two.MethodByName("Conn"))
		if !three.IsValid() {
			return nil
		}
		network, ok := three.Interface().(net.Conn)
		if !ok {
			return nil
		}
		if tls, ok := network.(interface{ NetConn() net.Conn }); ok {
			network = tls.NetConn()
		}
		if raw := rawConn(network); raw != nil {
			s = &socket{conn: network, raw: raw}
		}
		return nil
	})
	return s
}

// method calls a method that has no parameters and one result.
func method(m reflect.Value) (result reflect.Value) {
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return reflect.Value{}
	}
	result = m.Call(nil)[0]
	if (result.Kind() == reflect.Pointer || result.Kind() == reflect.Interface) && result.IsNil() {
		return reflect.Value{}
	}
	return result
}

// watch begins to watch. It returns a channel that gets true when the server has said something, and a function that ends the watch, after which the driver may use the connection again.
func (s *socket) watch() (stirred chan bool, stop func()) {
	stirred = make(chan bool, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if quiet(s.raw) {
			stirred <- true
		}
	}()
	return stirred, func() {
		s.conn.SetReadDeadline(time.Unix(1, 0))
		<-ended
		s.conn.SetReadDeadline(time.Time{})
	}
}
